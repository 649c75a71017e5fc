// clipping.3: as task 2, but a norm that is not finite is refused.
#include <cmath>
#include <limits>

#include "lists.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::clipping_checks;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void expect_norm(const Observation& got, const Observation& want, const Case& in) {
  const double norm = want.number("norm");
  EXPECT_THAT(got, Number("norm", Near(norm, norm * norm_tolerance(in.gradients()))));
}

TEST_F(Clipping, task3_finite_norm_is_clipped) {
  std::vector<Case> cases{
      clip_case(random(), {row({-3, 4})}, 1),
      clip_case(random(), {row({3}), row({-4}), none()}, 1, {2}),
      clip_case(random(), {row({3e15, -4e15})}, 1),  // large, but a number
  };
  for (int i = 0; i < 6; ++i) cases.push_back(draw_large(random(), i));
  const auto got = subject().observe("clip_checked", cases);
  const auto want = reference().observe("clip_checked", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("ended", "returned"));
    EXPECT_THAT(run.got, Tensors("gradients", CloseTo(run.want.tensors("gradients"),
                                                      clip_tolerance(run.in))));
    expect_norm(run.got, run.want, run.in);
  }
}

TEST_F(Clipping, task3_finite_small_norm_is_left_alone) {
  std::vector<Case> cases{
      clip_case(random(), {row({0.3})}, 1),
      clip_case(random(), {row({3, -4})}, 10),
      clip_case(random(), {row({0, 0}), none()}, 1, {1}),
  };
  for (int i = 0; i < 5; ++i) cases.push_back(draw_small(random(), i));
  const auto got = subject().observe("clip_checked", cases);
  const auto want = reference().observe("clip_checked", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("ended", "returned"));
    EXPECT_THAT(run.got, Tensors("gradients", BitEqualTo(run.in.gradients(), "unchanged")));
    expect_norm(run.got, run.want, run.in);
  }
}

// A list of three gradients, one element of which is not finite.
Case spoilt(Random& random, size_t where, double value, torch::ScalarType dtype) {
  Gradients gradients;
  for (int i = 0; i < 3; ++i) gradients.push_back(random.tensor({2 + i}, dtype));
  auto& bad = gradients[where];
  bad[random.integer(0, bad.numel() - 1)] = value;
  return clip_case(random, gradients, random.uniform(0.5, 100));
}

TEST_F(Clipping, task3_non_finite_norm_is_refused) {
  std::vector<Case> cases{
      clip_case(random(), {scalar(kNaN)}, 1),
      clip_case(random(), {row({1, kInfinity})}, 1),
      clip_case(random(), {row({1}), row({2, -kInfinity})}, 1),
      clip_case(random(), {row({kInfinity, -kInfinity}, torch::kFloat64)}, 1),
      clip_case(random(), {row({kInfinity}), none(), row({kNaN})}, 1, {1}),
  };
  int next = 0;
  for (const double value : {kInfinity, -kInfinity, kNaN}) {
    for (size_t where = 0; where < 3; ++where) {
      const auto dtype = next++ % 2 == 0 ? torch::kFloat32 : torch::kFloat64;
      cases.push_back(spoilt(random(), where, value, dtype));
    }
  }
  const auto got = subject().observe("clip_checked", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("ended", "std::runtime_error"));
    const auto unchanged = BitEqualTo(run.in.gradients(), "unchanged");
    EXPECT_THAT(run.got, Tensors("gradients", unchanged));
    EXPECT_THAT(run.got, Tensors("aliases", unchanged));
    EXPECT_THAT(run.got, Tensors("parameters", BitEqualTo(run.in.parameter_values(), "unchanged")));
  }
}

}  // namespace
