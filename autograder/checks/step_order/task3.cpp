// step_order.3: two models with an optimizer each, and one scaler.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::step_order_checks;

struct Pair {
  int steps = 5;
  double max_norm = kNoLimit;
  int64_t growth_interval = 2000;
  int64_t init_scale = 64;
};

Case draw_pair(Random& random, const Pair& plan) {
  Case in;
  add_model(random, in, first_names(), plan.steps, false);
  add_model(random, in, second_names(), plan.steps, random.chance(0.5));
  return in.number("lr", 0.03125)
      .number("momentum", 0.5)
      .number("max_norm", plan.max_norm)
      .integer("init_scale", plan.init_scale)
      .integer("growth_interval", plan.growth_interval);
}

// One weight of 1 each, one step: the gradients are 2 x^2.
Case pair_of_ones(double x_of_first, double x_of_second, double max_norm, int64_t scale = 64) {
  Case in;
  for (const auto& [names, x] :
       {std::pair(first_names(), x_of_first), std::pair(second_names(), x_of_second)}) {
    in.add(names.weights, torch::ones({1, 1}))
        .add(names.inputs, torch::full({1, 1}, x))
        .add(names.targets, torch::zeros({1, 1}));
  }
  return in.number("lr", 0.0625)
      .number("momentum", 0)
      .number("max_norm", max_norm)
      .integer("init_scale", scale)
      .integer("growth_interval", 1);
}

void expect_weights(const Together& runs) {
  for (const auto& run : runs) {
    const std::string first = "weights_of_first_after_steps";
    const std::string second = "weights_of_second_after_steps";
    EXPECT_THAT(run.got, Tensors(first, near_reference(run, first, first_names())));
    EXPECT_THAT(run.got, Tensors(second, near_reference(run, second, second_names())));
  }
}

void expect_scales(const Together& runs) {
  for (const auto& run : runs) {
    for (const std::string what : {"scale_after_steps", "growth_tracker_after_steps"}) {
      EXPECT_THAT(run.got, Tensors(what, as_reference(run, what)));
    }
  }
}

TEST_F(StepOrder, task3_each_steps_by_its_own_gradients) {
  // The scale grows in each step of the first two cases: what is unscaled after it has grown is
  // half as large. It is small in the others, so that what an old gradient adds is not divided
  // away.
  const std::vector<Case> cases{
      pair_of_ones(1, 2, kNoLimit),
      pair_of_ones(0.25, 0.125, kNoLimit, kFirstScale),
      draw_pair(random(), {.steps = 3, .growth_interval = 1, .init_scale = 4}),
      draw_pair(random(), {.steps = 8, .growth_interval = 3, .init_scale = 4}),
  };
  const auto got = judged("two_optimizer_steps", cases);
  const auto want = reference().observe("two_optimizer_steps", cases);
  expect_weights(together(cases, got, want));
}

TEST_F(StepOrder, task3_one_update_for_both) {
  const std::vector<Case> cases{
      draw_pair(random(), {.steps = 3, .growth_interval = 1}),
      draw_pair(random(), {.steps = 6, .growth_interval = 2}),
      pair_of_ones(0.125, 0.25, kNoLimit, kFirstScale),
  };
  const auto got = judged("two_optimizer_steps", cases);
  const auto want = reference().observe("two_optimizer_steps", cases);
  expect_scales(together(cases, got, want));
}

TEST_F(StepOrder, task3_each_is_clipped_by_itself) {
  // Gradients 2 and 8, limit 4: the first stays, the second is cut to 4. Then the other way round.
  const std::vector<Case> cases{
      pair_of_ones(1, 2, 4),
      pair_of_ones(2, 1, 4),
      draw_pair(random(), {.steps = 3, .max_norm = 1}),
  };
  const auto got = judged("two_optimizer_steps", cases);
  const auto want = reference().observe("two_optimizer_steps", cases);
  expect_weights(together(cases, got, want));
}

TEST_F(StepOrder, task3_one_overflow_skips_one_model) {
  std::vector<Case> cases;
  for (int i = 0; i < kOverflows; ++i) {
    auto in = draw_pair(random(), {.steps = 4, .max_norm = i < 2 ? kNoLimit : 2});
    overflow(in, 1, overflow_of(i), i % 2 == 0 ? first_names() : second_names());
    if (i == 1) overflow(in, 2, Overflow::kLargeTarget, first_names());
    cases.push_back(in);
  }
  const auto got = judged("two_optimizer_steps", cases);
  const auto want = reference().observe("two_optimizer_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    for (const auto& [names, of] : {std::pair(first_names(), std::string("of_first")),
                                    std::pair(second_names(), std::string("of_second"))}) {
      const auto start = start_of(run.in, names);
      const auto skips = skips_of(run.in, names);
      for (const auto& [what, from] :
           {std::pair("weights_" + of + "_after_steps", start),
            std::pair("momentum_" + of + "_after_steps", torch::zeros_like(start))}) {
        EXPECT_THAT(run.got, Tensors(what, unchanged_where(skips, list_of(run.got, what), from)));
        EXPECT_THAT(run.got, Tensors(what, near_reference(run, what, names)));
      }
    }
  }
}

TEST_F(StepOrder, task3_two_overflows_are_one_backoff) {
  std::vector<Case> cases;
  for (int i = 0; i < 3; ++i) {
    auto in = draw_pair(random(), {.steps = 4, .growth_interval = 2});
    // In both models at once, in the first, in the second.
    if (i != 2) overflow(in, 1, overflow_of(i), first_names());
    if (i != 1) overflow(in, 1, overflow_of(i + 1), second_names());
    cases.push_back(in);
  }
  const auto got = judged("two_optimizer_steps", cases);
  const auto want = reference().observe("two_optimizer_steps", cases);
  expect_scales(together(cases, got, want));
}

}  // namespace
