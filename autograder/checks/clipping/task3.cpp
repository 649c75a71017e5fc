// clipping.3: as task 2, but a norm that is not finite is refused.
#include <limits>

#include "lists.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::clipping_checks;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_F(Clipping, task3_finite_norm_is_clipped) {
  auto cases = large_cases(random(), 6);
  cases.push_back(clip_case(random(), {row({3e15, -4e15})}, 1));  // large, but a number
  const auto got = subject().observe("clip_checked", cases);
  const auto want = reference().observe("clip_checked", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Returned());
    EXPECT_THAT(run.got, Tensors("gradients", clipped(run, i++)));
  }
}

// What else task 2 asks for. By itself, so that a slip here leaves the other points alone.
TEST_F(Clipping, task3_returns_the_norm_and_clips_in_place) {
  const std::vector<Case> cases{
      clip_case(random(), {row({-3, 4})}, 1),
      clip_case(random(), {row({0.3, -0.4})}, 1),
      clip_case(random(), {row({6e-3}), row({8e-3})}, 0.02),
      clip_case(random(), {row({0, 0})}, 1),
      clip_case(random(), {row({3, 4}), none(), row({-12})}, 0.1, {1, 2}),  // an old gradient, too
      clip_case(random(), {draw_strided(random(), torch::kFloat32)}, 1),
      clip_case(random(), {draw_transposed(random(), torch::kFloat64)}, 1),
      draw_large(random(), 5),
      draw_small(random(), 5),
  };
  const auto got = subject().observe("clip_checked", cases);
  const auto want = reference().observe("clip_checked", cases);
  for (const auto& run : together(cases, got, want)) {
    const double norm = run.want.number("norm");
    EXPECT_THAT(run.got, Number("norm", Near(norm, norm * norm_tolerance(run.in.gradients()))));
    EXPECT_THAT(run.got, Tensors("parameters", BitEqualTo(run.in.parameter_values(), "unchanged")));
    if (norm <= run.in.number("max_norm")) continue;  // left alone: the next check's property
    const auto rule = CloseTo(run.want.tensors("gradients"), clip_tolerance(run.in));
    EXPECT_THAT(run.got, Tensors("gradients", rule));
    EXPECT_THAT(run.got, Tensors("aliases", rule));
  }
}

TEST_F(Clipping, task3_finite_small_norm_is_left_alone) {
  const auto cases = small_cases(random(), 5);
  const auto got = subject().observe("clip_checked", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Returned());
    EXPECT_THAT(run.got, Tensors("gradients", BitEqualTo(run.in.gradients(), "unchanged")));
  }
}

// A list of three gradients, one element of which is not finite.
Case spoilt(Random& random, size_t where, double value, torch::ScalarType dtype) {
  Gradients gradients;
  for (int i = 0; i < 3; ++i) gradients.push_back(draw_values(random, {2 + i}, dtype));
  auto& bad = gradients[where];
  bad[random.integer(0, bad.numel() - 1)] = value;
  return clip_case(random, gradients, rounded_up(random.uniform(0.5, 100), 2));
}

TEST_F(Clipping, task3_non_finite_norm_is_refused) {
  std::vector<Case> cases{
      clip_case(random(), {scalar(kNaN)}, 1),
      clip_case(random(), {row({1, kInfinity})}, 1),
      clip_case(random(), {row({1}), row({2, -kInfinity})}, 1),
      clip_case(random(), {row({kInfinity, -kInfinity}, torch::kFloat64)}, 1),
      clip_case(random(), {row({kInfinity}), row({kNaN})}, 1, {1}),
      // The one that is not finite has another type than its neighbours.
      clip_case(random(), {row({1, 2}), row({kNaN}, torch::kFloat64)}, 1),
      clip_case(random(), {row({kNaN}), row({1, 2}, torch::kFloat64)}, 1),
  };
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    for (const double value : {kInfinity, -kInfinity, kNaN}) {
      for (size_t where = 0; where < 3; ++where) {
        cases.push_back(spoilt(random(), where, value, dtype));
      }
    }
  }
  const auto got = subject().observe("clip_checked", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, ThrewRuntimeError());
    const auto unchanged = BitEqualTo(run.in.gradients(), "unchanged");
    EXPECT_THAT(run.got, Tensors("gradients", unchanged));
    EXPECT_THAT(run.got, Tensors("aliases", unchanged));
    EXPECT_THAT(run.got, Tensors("parameters", BitEqualTo(run.in.parameter_values(), "unchanged")));
  }
}

}  // namespace
