// step_order.4: what waits when a step is skipped.
#include <cmath>

#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::step_order_checks;

Case draw_scheduled(Random& random, Plan plan, double decay = 0.75) {
  if (plan.two_layers) plan.lr = 0.03125;
  return draw_run(random, plan).number("decay", decay);
}

// How many of the batches so far were no skip, after each of them.
std::vector<double> steps_taken(const Case& in) {
  std::vector<double> taken;
  double count = 0;
  for (const bool skip : skips_of(in)) taken.push_back(count += skip ? 0 : 1);
  return taken;
}

void expect_rates(const Together& runs) {
  for (const auto& run : runs) {
    auto rates = steps_taken(run.in);
    for (double& rate : rates) rate = run.in.number("lr") * std::pow(run.in.number("decay"), rate);
    EXPECT_THAT(run.got, Tensors("learning_rate_after_steps", exactly(rates)));
  }
}

// The average goes a quarter of the way to the run's own weights with every step that was taken.
TensorRule own_average(const Run& run) {
  const auto& weights = list_of(run.got, "weights_after_steps");
  const auto skips = skips_of(run.in);
  auto average = start_of(run.in);
  List expected;
  for (size_t i = 0; i < weights.size() && i < skips.size(); ++i) {
    const bool fits = weights[i].defined() && weights[i].sizes() == average.sizes();
    if (!fits) break;  // weights of another shape have no average: the lists then differ in length
    if (!skips[i]) average = average + (weights[i] - average) / 4;
    expected.push_back(average);
  }
  // Float32 rounding of a few additions.
  return CloseTo(expected, {.absolute = 1e-5, .relative = 1e-5});
}

void expect_progress(const Together& runs) {
  for (const auto& run : runs) {
    EXPECT_THAT(run.got, Tensors("updates_after_steps", exactly(steps_taken(run.in))));
    EXPECT_THAT(run.got, Tensors("average_after_steps", own_average(run)));
  }
}

// Skips at the start, in the middle and near the end; every run has one with a finite loss.
std::vector<Case> scheduled_runs_with_skips(Random& random, double decay = 0.75) {
  std::vector<Case> cases;
  for (int i = 0; i < kOverflows; ++i) {
    auto in = draw_scheduled(random, {.steps = 5, .two_layers = i == 2, .max_norm = 4}, decay);
    overflow(in, i % 2 == 0 ? 1 : 0, overflow_of(i));
    overflow(in, 3, Overflow::kLargeTarget);
    cases.push_back(in);
  }
  return cases;
}

TEST_F(StepOrder, task4_schedule_advances_with_every_step) {
  const std::vector<Case> cases{draw_scheduled(random(), {.steps = 3}),
                                draw_scheduled(random(), {.steps = 6, .two_layers = true}, 0.9),
                                at_first_scale(random(), 2).number("decay", 0.5)};
  const auto got = judged("scheduled_steps", cases);
  expect_rates(together(cases, got, got));
}

TEST_F(StepOrder, task4_growth_is_no_skip) {
  const std::vector<Case> cases{
      draw_scheduled(random(), {.steps = 3, .growth_interval = 1}),
      draw_scheduled(random(), {.steps = 6, .growth_interval = 2}),
  };
  const auto got = judged("scheduled_steps", cases);
  expect_rates(together(cases, got, got));
}

TEST_F(StepOrder, task4_average_follows_every_step) {
  const std::vector<Case> cases{draw_scheduled(random(), {.steps = 3}),
                                draw_scheduled(random(), {.steps = 6, .max_norm = 1}),
                                at_first_scale(random(), 2).number("decay", 0.5)};
  const auto got = judged("scheduled_steps", cases);
  expect_progress(together(cases, got, got));
}

TEST_F(StepOrder, task4_each_step_has_the_rate_before_it_advances) {
  const std::vector<Case> cases{
      draw_scheduled(random(), {.steps = 3, .momentum = 0}, 0.5),
      draw_scheduled(random(), {.steps = 5, .max_norm = 1}, 0.5),
  };
  const auto got = judged("scheduled_steps", cases);
  const auto want = reference().observe("scheduled_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got,
                Tensors("weights_after_steps", near_reference(run, "weights_after_steps")));
  }
}

TEST_F(StepOrder, task4_says_whether_it_stepped) {
  auto cases = scheduled_runs_with_skips(random());
  cases.push_back(draw_scheduled(random(), {.steps = 3, .growth_interval = 1}));
  cases.push_back(at_first_scale(random(), 2).number("decay", 0.5));
  const auto got = judged("scheduled_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    auto stepped = skips_of(run.in);
    stepped.flip();
    EXPECT_THAT(run.got, Tensors("returned_after_steps", FlagsEqualTo(stepped)));
  }
}

TEST_F(StepOrder, task4_schedule_waits_when_a_step_is_skipped) {
  const auto cases = scheduled_runs_with_skips(random());
  const auto got = judged("scheduled_steps", cases);
  expect_rates(together(cases, got, got));
}

TEST_F(StepOrder, task4_average_waits_when_a_step_is_skipped) {
  const auto cases = scheduled_runs_with_skips(random());
  const auto got = judged("scheduled_steps", cases);
  expect_progress(together(cases, got, got));
}

TEST_F(StepOrder, task4_a_skipped_batch_leaves_nothing_behind) {
  const auto cases = scheduled_runs_with_skips(random(), 1);  // the schedule has checks of its own
  const auto got = judged("scheduled_steps", cases);
  const auto want = reference().observe("scheduled_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    const auto skips = skips_of(run.in);
    const auto start = start_of(run.in);
    for (const auto& [what, from] :
         {std::pair(std::string("weights_after_steps"), start),
          std::pair(std::string("momentum_after_steps"), torch::zeros_like(start))}) {
      EXPECT_THAT(run.got, Tensors(what, unchanged_where(skips, list_of(run.got, what), from)));
      EXPECT_THAT(run.got, Tensors(what, near_reference(run, what)));
    }
    EXPECT_THAT(run.got, Tensors("scale_after_steps", as_reference(run, "scale_after_steps")));
  }
}

}  // namespace
