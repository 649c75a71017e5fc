// PyTorch's own clipping tests, in C++: test/test_nn.py and test/cpp/api/nn_utils.cpp. The names
// are theirs. Where theirs compare loosely or not at all, these compare.
#include <torch/types.h>

#include <cmath>

#include "gradlab/amp/clip.hpp"
#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using amp_test::copies_of;
using amp_test::gradients_of;
using amp_test::kInf;
using amp_test::kNaN;
using amp_test::with_gradient;
namespace amp = gradlab::amp;
using Tensors = std::vector<torch::Tensor>;

// ---- test_nn.py: test_clip_grad_norm; nn_utils.cpp: ClipGradNorm

class TestNnClipGradNorm : public testing::TestWithParam<double> {};

Tensors ramp_and_constant() {
  return {with_gradient(torch::arange(1.0, 101.0).reshape({10, 10})),
          with_gradient(torch::full({10, 10}, 1.0 / 1000))};
}

double norm_by_hand(const Tensors& gradients, double p) {
  double sum = 0;
  for (const auto& gradient : gradients) {
    const auto magnitude = gradient.to(torch::kDouble).abs();
    if (std::isinf(p)) {
      sum = std::max(sum, magnitude.max().item<double>());
    } else {
      sum += magnitude.pow(p).sum().item<double>();
    }
  }
  return std::isinf(p) ? sum : std::pow(sum, 1 / p);
}

// Every element shrank by the same factor.
void expect_one_ratio(const Tensors& before, const Tensors& after) {
  const double ratio = (after[0].select(0, 0)[0] / before[0].select(0, 0)[0]).item<double>();
  EXPECT_LE(ratio, 1);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(golden::close(after[i], before[i] * ratio, 1e-6, 0));
  }
}

TEST_P(TestNnClipGradNorm, test_clip_grad_norm) {
  const double p = GetParam(), max_norm = 2;
  const auto parameters = ramp_and_constant();
  const auto before = copies_of(gradients_of(parameters));
  const double norm = amp::clip_grad_norm_(parameters, max_norm, p).item<double>();
  EXPECT_NEAR(norm, norm_by_hand(before, p), 1e-5 * norm);
  EXPECT_NEAR(norm_by_hand(gradients_of(parameters), p), max_norm, 1e-5);
  expect_one_ratio(before, gradients_of(parameters));
}

TEST_P(TestNnClipGradNorm, test_clip_grad_norm_by_the_split_calls) {
  const auto parameters = ramp_and_constant(), whole = ramp_and_constant();
  const auto norm = amp::get_total_norm(gradients_of(parameters), GetParam());
  amp::clip_grads_with_norm_(parameters, 2, norm);
  EXPECT_TRUE(golden::bit_equal(amp::clip_grad_norm_(whole, 2, GetParam()), norm));
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(golden::bit_equal(parameters[i].grad(), whole[i].grad()));
  }
}

TEST_P(TestNnClipGradNorm, test_clip_grad_norm_small_gradients_stay) {
  torch::manual_seed(7);
  const Tensors parameters = {with_gradient(torch::rand({10, 10}).div(10000)),
                              with_gradient(torch::ones({10, 10}).div(500))};
  const auto before = copies_of(gradients_of(parameters));
  // For p below 1 the norm of 200 small elements is not small.
  const double max_norm = GetParam() < 1 ? 100 : 2;
  amp::clip_grad_norm_(parameters, max_norm, GetParam());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(golden::bit_equal(parameters[i].grad(), before[i]));
  }
}

TEST_P(TestNnClipGradNorm, test_clip_grad_norm_one_tensor_is_a_list_of_one) {
  const auto one = with_gradient(torch::arange(1.0, 11.0)),
             list = with_gradient(torch::arange(1.0, 11.0));
  const auto norm = amp::clip_grad_norm_(one, 2, GetParam());
  EXPECT_TRUE(golden::bit_equal(norm, amp::clip_grad_norm_({list}, 2, GetParam())));
  EXPECT_TRUE(golden::bit_equal(one.grad(), list.grad()));
}

INSTANTIATE_TEST_SUITE_P(Orders, TestNnClipGradNorm, testing::Values(0.5, 1.5, 2.0, 4.0, kInf));

// ---- test_clip_grad_norm_error_if_nonfinite; ClipGradNormErrorIfNonfinite

struct NonfiniteRow {
  const char* name;
  double value;
  // For which orders a norm over ten such elements is not finite: alone, and behind a finite
  // parameter.
  std::vector<double> all_alone, all_behind;
  // And with nine zeros beside one such element.
  std::vector<double> one_alone, one_behind;
};

const std::vector<double> kOrders = {0, 1, -1, 2, 3.5, -2, -3.5, kInf, -kInf};
const std::vector<double> kAllButZero = {1, -1, 2, 3.5, -2, -3.5, kInf, -kInf};
const std::vector<double> kPositive = {1, 2, 3.5, kInf};

const std::vector<NonfiniteRow> kRows = {
    {"inf", kInf, kAllButZero, kPositive, kPositive, kPositive},
    {"minus_inf", -kInf, kAllButZero, kPositive, kPositive, kPositive},
    {"nan", kNaN, kAllButZero, kAllButZero, kAllButZero, kAllButZero},
    {"2e22", 2e22, {}, {}, {}, {}},
    {"minus_2e22", -2e22, {}, {}, {}, {}},
    {"2e200", 2e200, {2, 3.5, -2, -3.5}, {2, 3.5}, {2, 3.5}, {2, 3.5}},
    {"minus_2e200", -2e200, {2, 3.5, -2, -3.5}, {2, 3.5}, {2, 3.5}, {2, 3.5}}};

void PrintTo(const NonfiniteRow& row, std::ostream* out) { *out << row.name; }

class TestNnErrorIfNonfinite
    : public testing::TestWithParam<std::tuple<NonfiniteRow, double, bool, bool>> {};

Tensors nonfinite_parameters(const NonfiniteRow& row, bool one, bool behind) {
  auto gradient =
      one ? torch::zeros({10}, torch::kDouble) : torch::full({10}, row.value, torch::kDouble);
  if (one) gradient[3] = row.value;
  Tensors parameters;
  if (behind) parameters.push_back(with_gradient(torch::ones({10}, torch::kDouble)));
  parameters.push_back(with_gradient(gradient));
  return parameters;
}

bool contains(const std::vector<double>& orders, double p) {
  return std::find(orders.begin(), orders.end(), p) != orders.end();
}

TEST_P(TestNnErrorIfNonfinite, test_clip_grad_norm_error_if_nonfinite) {
  const auto& [row, p, one, behind] = GetParam();
  const auto& bad =
      one ? (behind ? row.one_behind : row.one_alone) : (behind ? row.all_behind : row.all_alone);
  const auto parameters = nonfinite_parameters(row, one, behind);
  const auto before = copies_of(gradients_of(parameters));
  const auto error = golden::error_kind([&] { amp::clip_grad_norm_(parameters, 1, p, true); });
  EXPECT_EQ(error, contains(bad, p) ? "nonfinite_norm" : "") << row.name << " order " << p;
  if (!error.empty()) {
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(golden::bit_equal(parameters[i].grad(), before[i]));
    }
  }
  // Not asked for, it never throws, and multiplies by the coefficient whatever that is.
  const auto again = nonfinite_parameters(row, one, behind);
  const auto norm = amp::clip_grad_norm_(again, 1, p);
  const auto factor = (norm + 1e-6).reciprocal().mul(1.0).clamp_max(1.0);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(golden::bit_equal(again[i].grad(), before[i] * factor));
  }
}

INSTANTIATE_TEST_SUITE_P(Matrix, TestNnErrorIfNonfinite,
                         testing::Combine(testing::ValuesIn(kRows), testing::ValuesIn(kOrders),
                                          testing::Bool(), testing::Bool()));

// ---- test_clip_grad_norm_multi_device

TEST(TestNn, test_clip_grad_norm_multi_device) {
  if (!at::hasCUDA()) GTEST_SKIP() << "needs a CUDA device";
  const Tensors parameters = {with_gradient(torch::full({3}, 3.0)),
                              with_gradient(torch::full({3}, 4.0).to(torch::kCUDA))};
  const auto norm = amp::clip_grad_norm_(parameters, 1);
  EXPECT_TRUE(norm.is_cpu());
  EXPECT_NEAR(norm.item<double>(), std::sqrt(75.0), 1e-5);
  EXPECT_NEAR(parameters[1].grad()[0].item<double>(), 4 / std::sqrt(75.0), 1e-5);
}

// ---- test_clip_grad_value; ClipGradValue

TEST(TestNn, test_clip_grad_value) {
  const auto ramp = torch::arange(-50.0, 50.0).div(5).reshape({10, 10});
  const Tensors parameters = {with_gradient(ramp.clone()), torch::zeros({2}),
                              with_gradient(torch::full({10, 10}, 2.0))};
  amp::clip_grad_value_(parameters, 2.5);
  EXPECT_TRUE(golden::bit_equal(parameters[0].grad(), ramp.clamp(-2.5, 2.5)));
  EXPECT_EQ(parameters[0].grad().min().item<double>(), -2.5);
  EXPECT_EQ(parameters[0].grad().max().item<double>(), 2.5);
  EXPECT_FALSE(parameters[1].grad().defined());
  EXPECT_TRUE(golden::bit_equal(parameters[2].grad(), torch::full({10, 10}, 2.0)));
}

TEST(TestNn, test_clip_grad_value_one_tensor_is_a_list_of_one) {
  const auto one = with_gradient(torch::arange(-5.0, 5.0)),
             list = with_gradient(torch::arange(-5.0, 5.0));
  amp::clip_grad_value_(one, 2.5);
  amp::clip_grad_value_({list}, 2.5);
  EXPECT_TRUE(golden::bit_equal(one.grad(), list.grad()));
}

}  // namespace
