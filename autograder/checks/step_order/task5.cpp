// step_order.5: a whole run, worked by hand, and runs that no table of answers knows.
#include <algorithm>
#include <cmath>

#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::step_order_checks;

// Out is 40, loss 1600, each gradient 800: a scale of 64 is the first whose 800 * scale is below
// 65504, so that steps 0 to 9 are skips. Cut to norm 1 the gradients are 1/2: each weight then
// loses 1/20 a step.
constexpr int kGoldenSteps = 14;
constexpr int kGoldenSkips = 10;

Case golden_run() { return golden(kGoldenSteps, 10, 0.1, 1); }

void expect_records(const Run& run, int count) {
  EXPECT_THAT(run.got, Number("number_of_records", Near(count, 0)));
}

// float16 rounds weights, out and gradients: 2^-11 each, and a loss is out squared.
TensorRule near_values(const std::vector<double>& values) {
  List expected;
  for (const double value : values) expected.push_back(torch::full({}, value, torch::kFloat64));
  return CloseTo(expected, {.absolute = 0, .relative = 0x1p-8});
}

// Norms where a step was taken; a skip's is free, so it is taken as it came.
TensorRule near_norms(const Run& run, const std::vector<double>& norms,
                      const std::vector<bool>& skipped) {
  const auto& got = list_of(run.got, "norm_of_steps");
  List expected;
  for (size_t i = 0; i < norms.size(); ++i) {
    const bool is_free = skipped[i] && i < got.size();
    expected.push_back(is_free ? got[i] : torch::full({}, norms[i], torch::kFloat64));
  }
  return CloseTo(expected, {.absolute = 0, .relative = 0x1p-8});
}

std::vector<double> numbers(const List& list) {
  std::vector<double> values;
  for (const auto& value : list) values.push_back(value.item<double>());
  return values;
}

std::vector<bool> skips_seen(const Observation& seen) {
  std::vector<bool> skipped;
  for (const double stepped : numbers(seen.tensors("stepped_of_steps"))) {
    skipped.push_back(stepped == 0);
  }
  return skipped;
}

std::vector<bool> golden_skips() {
  std::vector<bool> skipped(kGoldenSteps, false);
  std::fill_n(skipped.begin(), kGoldenSkips, true);
  return skipped;
}

TEST_F(StepOrder, task5_golden_run_finds_its_scale) {
  const std::vector<Case> cases{golden_run()};
  const auto got = judged("training_run", cases);
  auto stepped = golden_skips();
  stepped.flip();
  std::vector<double> scales;
  for (int i = 0; i < kGoldenSteps; ++i) {
    scales.push_back(65536 / std::pow(2, std::min(i, kGoldenSkips)));
  }
  for (const auto& run : together(cases, got, got)) {
    expect_records(run, kGoldenSteps);
    EXPECT_THAT(run.got, Tensors("stepped_of_steps", FlagsEqualTo(stepped)));
    EXPECT_THAT(run.got, Tensors("scale_of_steps", exactly(scales)));
  }
}

TEST_F(StepOrder, task5_golden_run_losses) {
  const std::vector<Case> cases{golden_run()};
  const auto got = judged("training_run", cases);
  std::vector<double> losses(kGoldenSkips, 1600);
  losses.insert(losses.end(), {1600, 1444, 1296, 1156});
  for (const auto& run : together(cases, got, got)) {
    expect_records(run, kGoldenSteps);
    EXPECT_THAT(run.got, Tensors("loss_of_steps", near_values(losses)));
  }
}

TEST_F(StepOrder, task5_golden_run_norms) {
  const std::vector<Case> cases{golden_run()};
  const auto got = judged("training_run", cases);
  std::vector<double> norms(kGoldenSkips, 0);
  norms.insert(norms.end(), {1600, 1520, 1440, 1360});
  for (const auto& run : together(cases, got, got)) {
    expect_records(run, kGoldenSteps);
    EXPECT_THAT(run.got, Tensors("norm_of_steps", near_norms(run, norms, golden_skips())));
  }
}

void expect_run_as_reference(const Run& run) {
  expect_records(run, static_cast<int>(batch_count(run.in)));
  const auto losses = numbers(run.want.tensors("loss_of_steps"));
  EXPECT_THAT(run.got, Tensors("loss_of_steps", near_values(losses)));
  EXPECT_THAT(run.got,
              Tensors("norm_of_steps", near_norms(run, numbers(run.want.tensors("norm_of_steps")),
                                                  skips_seen(run.want))));
  EXPECT_THAT(run.got, Tensors("scale_of_steps", as_reference(run, "scale_of_steps")));
  auto stepped = skips_seen(run.want);
  stepped.flip();
  EXPECT_THAT(run.got, Tensors("stepped_of_steps", FlagsEqualTo(stepped)));
  // The float16 of a weight is 2^-11 off at most, and a few steps follow.
  EXPECT_THAT(run.got,
              Tensors("weights_after_the_run", CloseTo(run.want.tensors("weights_after_the_run"),
                                                       {.absolute = 0, .relative = 0x1p-8})));
}

// With x of 5 to 12 there are 8 to 10 skips, with x below 2 none or a few, and no clipping.
TEST_F(StepOrder, task5_other_runs) {
  const auto large = [&] {
    return golden(14, random().pick<double>({5, 6, 7, 9, 11, 12}),
                  random().pick<double>({0.05, 0.2, 0.25}), random().pick<double>({0.5, 1.5}));
  };
  const auto small = [&] {
    return golden(8, random().pick<double>({0.25, 0.5, 0.75, 1, 1.5}), 0.03125, 100);
  };
  // At the first scale: out is 1/2, and its gradient of 1/2 a number of float16 when scaled.
  const auto first = golden(8, 0.125, 0.25, 100);
  const std::vector<Case> cases{small(), small(), first, large(), large()};
  const auto got = judged("training_run", cases);
  const auto want = reference().observe("training_run", cases);
  for (const auto& run : together(cases, got, want)) expect_run_as_reference(run);
}

// A batch of another kind in the middle of a run that had found its scale.
TEST_F(StepOrder, task5_an_overflow_later_in_the_run) {
  std::vector<Case> cases;
  for (int i = 0; i < 2; ++i) {
    auto in = golden(9, random().pick<double>({0.5, 0.75, 1, 1.5}), 0.03125, i == 0 ? 100 : 1);
    overflow(in, static_cast<size_t>(random().integer(5, 6)), Overflow::kLargeTarget);
    cases.push_back(in);
  }
  const auto got = judged("training_run", cases);
  const auto want = reference().observe("training_run", cases);
  for (const auto& run : together(cases, got, want)) expect_run_as_reference(run);
}

}  // namespace
