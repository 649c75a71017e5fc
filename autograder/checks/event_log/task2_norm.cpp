// event_log.2: norms of gradients that are still scaled, or no longer.
#include <cmath>

#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::event_log_checks;

Case norm_case(const List& gradients, double scale, bool unscaled) {
  return Case()
      .set("gradients", gradients)
      .number("scale", scale)
      .integer("unscaled", unscaled ? 1 : 0);
}

// In double, from the case alone: the yardstick of all of these.
double true_norm(const Case& in) {
  double squares = 0;
  for (const auto& gradient : in.gradients()) {
    if (gradient.defined()) squares += gradient.to(torch::kFloat64).square().sum().item<double>();
  }
  const bool unscaled = in.integer("unscaled") != 0;
  return std::sqrt(squares) / (unscaled ? 1 : in.number("scale"));
}

void expect_norms(const Together& runs) {
  for (const auto& run : runs) {
    const double want = true_norm(run.in);
    const auto rule = std::isfinite(want) ? Near(want, 1e-5 * want + 1e-30)
                                          : NearAnyOf({want, kInfinity, kNaN}, 0);
    EXPECT_THAT(run.got, Number("norm", rule));
    EXPECT_THAT(run.got, Tensors("gradients", BitEqualTo(run.in.gradients(), "unchanged")));
  }
}

List draw_list(Random& random, int count, torch::ScalarType dtype = torch::kFloat32) {
  List gradients;
  for (int i = 0; i < count; ++i) {
    gradients.push_back(random.tensor({random.integer(1, 3), 2}, dtype));
  }
  return gradients;
}

TEST_F(EventLog, task2_divided_only_while_still_scaled) {
  std::vector<Case> cases{
      norm_case({row({6, 8})}, 2, false),
      norm_case({row({6, 8})}, 2, true),
      norm_case({row({-0.75})}, 0.25, false),
      norm_case({row({-0.75})}, 0.25, true),
  };
  for (int i = 0; i < 4; ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(random().integer(4, 16)));
    cases.push_back(norm_case(draw_list(random(), 2), scale, i % 2 == 1));
  }
  const auto got = subject().observe("norm", cases);
  expect_norms(together(cases, got, got));
}

// Norms beyond float16's end, divisions that end below its smallest number, and a norm between two
// of its numbers.
TEST_F(EventLog, task2_half_types_are_summed_wider) {
  std::vector<Case> cases{
      norm_case({row({60000, 60000}, torch::kFloat16)}, 65536, true),
      norm_case({row({0.0009765625, 0.0009765625}, torch::kFloat16)}, 65536, false),
      norm_case({row({1, 1}, torch::kFloat16)}, 1, true),
      norm_case({row({1, 1}, torch::kBFloat16)}, 4, false),
      norm_case({row({1, 1}, torch::kFloat16), row({1}, torch::kFloat16)}, 1, true),
  };
  for (const auto dtype : {torch::kFloat16, torch::kBFloat16}) {
    for (const bool unscaled : {true, false}) {
      cases.push_back(norm_case(draw_list(random(), 3, dtype), 1024, unscaled));
    }
  }
  const auto got = subject().observe("norm", cases);
  expect_norms(together(cases, got, got));
}

TEST_F(EventLog, task2_norm_of_all_gradients) {
  std::vector<Case> cases{
      norm_case({}, 64, false),
      norm_case({row({3}), row({4})}, 1, true),
      norm_case({row({3}), {}, row({-4})}, 2, false),
      norm_case({{}, row({5, 12})}, 64, true),
      norm_case({row({1}), row({kInfinity, 1})}, 64, false),
      norm_case({row({kNaN}), row({1})}, 64, true),
      norm_case({torch::ones({2, 3}).t().slice(0, 0, 2)}, 1, true),
  };
  for (int i = 2; i < 6; ++i) {
    auto gradients = draw_list(random(), i);
    gradients[1] = torch::Tensor();
    cases.push_back(norm_case(gradients, 64, random().chance(0.5)));
  }
  const auto got = subject().observe("norm", cases);
  expect_norms(together(cases, got, got));
}

}  // namespace
