// Norms: true magnitudes of every kind of gradient, without overflow or loss on the way; and where
// the plain rules' float32 norms go wrong.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradient_reader.hpp"
#include "parameter_table.hpp"
#include "support/loop.hpp"

namespace {

namespace monitor = gradlab::monitor;
using loops::Hand;
using loops::Told;
using monitor::Rules;

monitor::Reading reading_of(const torch::Tensor& gradient, const torch::Tensor& parameter) {
  parameter.mutable_grad() = gradient;
  monitor::GradientReader reader;
  return reader.read({{"w", parameter, monitor::kNoOptimizer, 1}}).at(0);
}

monitor::Reading reading_of(const torch::Tensor& gradient) {
  return reading_of(gradient, torch::zeros(gradient.sizes(), gradient.options()));
}

// ---- each kind of gradient beside the norm in double

struct Kind {
  std::string name;
  torch::Tensor gradient;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class Kinds : public testing::TestWithParam<Kind> {};

TEST_P(Kinds, norm_is_that_in_double) {
  const torch::Tensor gradient = GetParam().gradient;
  const auto reading = reading_of(gradient);
  const auto wide = gradient.to(gradient.is_complex() ? torch::kComplexDouble : torch::kDouble);
  const double expected = wide.abs().square().sum().item<double>();
  EXPECT_TRUE(reading.present);
  EXPECT_TRUE(reading.finite);
  EXPECT_NEAR(reading.norm, std::sqrt(expected), 1e-6 * std::sqrt(expected));
}

std::vector<Kind> kinds() {
  torch::manual_seed(3);
  const auto base = torch::randn({37, 53});
  return {{"float32", base},
          {"float64", base.to(torch::kDouble)},
          {"float16", base.to(torch::kHalf)},
          {"bfloat16", base.to(torch::kBFloat16)},
          {"complex64", torch::randn({5, 7}, torch::kComplexFloat)},
          {"conjugated", torch::randn({5, 7}, torch::kComplexFloat).conj()},
          {"transposed", base.t()},
          {"every_second_column", torch::randn({9, 20}).slice(1, 0, 20, 2)},
          {"many_blocks", torch::randn({70'000})},
          {"scalar", torch::tensor(3.0F)}};
}

INSTANTIATE_TEST_SUITE_P(Gradient, Kinds, testing::ValuesIn(kinds()),
                         [](const auto& one) { return one.param.name; });

TEST(Gradient, sparse_counts_duplicates_together) {
  const auto indices = torch::tensor({{0, 2, 2}}, torch::kLong);
  const auto sparse = torch::sparse_coo_tensor(indices, torch::tensor({3.0F, 1.0F, 3.0F}), {5});
  EXPECT_DOUBLE_EQ(reading_of(sparse, torch::zeros({5})).norm, 5);  // (3, 4)
}

TEST(Gradient, empty_is_present_and_zero) {
  for (const auto& empty : {torch::zeros({0, 3}), torch::zeros({0}, torch::kHalf)}) {
    const auto reading = reading_of(empty);
    EXPECT_TRUE(reading.present && reading.finite);
    EXPECT_EQ(reading.norm, 0);
  }
}

TEST(Gradient, squares_neither_overflow_nor_vanish) {
  EXPECT_NEAR(reading_of(torch::full({4}, 1e25F)).norm / 2e25, 1, 1e-6);
  EXPECT_NEAR(reading_of(torch::full({4}, 1e-25F)).norm / 2e-25, 1, 1e-6);
  EXPECT_NEAR(reading_of(torch::full({4}, 1e200, torch::kDouble)).norm / 2e200, 1, 1e-12);
  EXPECT_NEAR(reading_of(torch::full({4}, 1e-200, torch::kDouble)).norm / 2e-200, 1, 1e-12);
  EXPECT_EQ(reading_of(torch::zeros({4}, torch::kDouble)).norm, 0);
}

TEST(Gradient, what_is_not_finite_is_noticed_in_every_type) {
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}) {
    for (const double bad : std::initializer_list<double>{INFINITY, -INFINITY, NAN}) {
      auto gradient = torch::ones({200}, type);
      gradient[150] = bad;
      const auto reading = reading_of(gradient);
      EXPECT_FALSE(reading.finite) << type << " " << bad;
      EXPECT_FALSE(std::isfinite(reading.norm));
      EXPECT_EQ(monitor::nonfinite_elements(gradient), 1);
    }
  }
}

TEST(Gradient, any_number_of_threads_gives_the_same_bits) {
  torch::manual_seed(4);
  const auto gradient = torch::randn({3'000'001});
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const double one = reading_of(gradient).norm;
  at::set_num_threads(2);
  const double two = reading_of(gradient).norm;
  at::set_num_threads(before);
  EXPECT_EQ(one, two);
}

// ---- what that mends

// Finite gradients of 1e25: the plain norm overflows float32.
TEST(NormRules, large_finite_gradients_are_not_told_as_nonfinite) {
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    Hand hand(1);
    Told told;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(loops::every_step(rules)));
    hand.set(0, 1e25);
    monitor.step();
    EXPECT_EQ(told.count("nonfinite_gradient"), rules == Rules::kPlain ? 1 : 0);
    EXPECT_EQ(std::isfinite(monitor.norms()[0].second), rules == Rules::kBetter);
  }
}

// Gradients of 1e-25 are small, not zero: the plain norm is exactly 0.
TEST(NormRules, small_gradients_are_not_told_as_zero) {
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    Hand hand(1);
    Told told;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(loops::every_step(rules)));
    for (int i = 0; i < 12; ++i) {
      hand.set(0, i < 10 ? 1 : 1e-25);
      monitor.step();
    }
    ASSERT_EQ(told.count("alarm"), 1);
    EXPECT_EQ(loops::text(told.first("alarm"), "diagnosis"),
              rules == Rules::kPlain ? "no_gradient" : "vanishing");
  }
}

TEST(NormRules, total_norm_is_that_of_all_layers) {
  Hand hand(2, {1});
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(loops::every_step(Rules::kBetter)));
  hand.set_all({3, 4});
  monitor.step();
  monitor.close();
  EXPECT_EQ(told.records.at(0).norm, 5.0);
}

// A parameter tied into two layers: the plain rules count it in both.
TEST(NormRules, tied_parameters_count_once) {
  const auto tied = torch::ones({1}).set_requires_grad(true);
  const std::vector<monitor::Layer> layers = {{"in", "Embedding", {{"weight", tied}}},
                                              {"out", "Linear", {{"weight", tied}}}};
  torch::optim::SGD optimizer({tied}, torch::optim::SGDOptions(0.0));
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    tied.mutable_grad() = torch::full({1}, 3.0F);
    Told told;
    monitor::Monitor monitor(layers, optimizer, told.heard(loops::every_step(rules)));
    monitor.step();
    EXPECT_EQ(monitor.norms().size(), rules == Rules::kPlain ? 2U : 1U);
    monitor.close();
    EXPECT_NEAR(*told.records.at(0).norm, rules == Rules::kPlain ? 3 * std::sqrt(2) : 3, 1e-6);
  }
}

TEST(NormRules, complex_and_sparse_parameters_are_watched) {
  const auto wave = torch::zeros({2}, torch::kComplexFloat).set_requires_grad(true);
  const auto table = torch::zeros({5, 2}).set_requires_grad(true);
  const std::vector<monitor::Layer> layers = {{"wave", "Wave", {{"weight", wave}}},
                                              {"table", "Embedding", {{"weight", table}}}};
  torch::optim::SGD optimizer({table}, torch::optim::SGDOptions(0.0));
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    wave.mutable_grad() = torch::full({2}, c10::complex<float>(3, 4), torch::kComplexFloat);
    table.mutable_grad() = torch::sparse_coo_tensor(torch::tensor({{1}}, torch::kLong),
                                                    torch::tensor({{3.0F, 4.0F}}), {5, 2});
    monitor::Monitor monitor(layers, optimizer, loops::every_step(rules));
    for (int i = 0; i < 3; ++i) monitor.step();
    EXPECT_EQ(monitor.counts().errors, 0);
    EXPECT_NEAR(monitor.norms().at(0).second, std::sqrt(50), 1e-5);
    EXPECT_NEAR(monitor.norms().at(1).second, 5, 1e-5);
  }
}

}  // namespace
