// step_order.1: one step in mixed precision, over runs of one step and of many.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::step_order_checks;

[[maybe_unused]] const bool kIdle = add_idle_answers<step_order::Impl>();

int64_t draw_scale(Random& random) { return int64_t{1} << random.integer(3, 9); }

TEST_F(StepOrder, task1_one_step_worked_by_hand) {
  struct Worked {
    Case in;
    torch::Tensor weights;
  };
  std::vector<Worked> worked{
      // out 2, loss 4, gradient 2 * 2 * 2
      {one_row({1}, {2}, 0, 0.0625, 100, draw_scale(random())), row({0.5})},
      // out 7, off by 5, gradient [30, 40] of norm 50, cut to [3, 4]
      {one_row({1, 1}, {3, 4}, 2, 0.125, 5, draw_scale(random())), row({0.625, 0.5})},
  };
  // The same in sizes that no table of answers knows: the gradient is 4 u^2, the cut one [3, 4].
  for (int i = 0; i < 3; ++i) {
    const double u = static_cast<double>(random().integer(2, 6)) / 4;
    worked.push_back(
        {one_row({1}, {u}, -u, 0.0625, 100, draw_scale(random())), row({1 - u * u / 4})});
    worked.push_back(
        {one_row({1, 1}, {3 * u, 4 * u}, 0, 0.125, 5, draw_scale(random())), row({0.625, 0.5})});
  }
  // At the first scale: a step halves the weight.
  const auto first = at_first_scale(random(), 1);
  worked.push_back({first, start_of(first) / 2});
  std::vector<Case> cases;
  for (const auto& one : worked) cases.push_back(one.in);
  const auto got = judged("mixed_steps", cases);
  auto expected = worked.begin();
  for (const auto& run : together(cases, got, got)) {
    // Exact in float16; in bfloat16, which another check tells, 2^-8 of at most 0.6 off. A step
    // that is not unscaled, unscaled twice or not taken, is off by 0.03 and more.
    EXPECT_THAT(run.got, Tensors("weights_after_steps",
                                 CloseTo({(expected++)->weights}, {.absolute = 0.01})));
  }
}

TEST_F(StepOrder, task1_weights_over_many_steps) {
  const std::vector<Case> cases{
      // A small scale, so that what an old gradient adds is not divided away.
      draw_run(random(), {.steps = 3, .momentum = 0, .init_scale = 2}),
      draw_run(random(), {.steps = 6, .max_norm = 1, .init_scale = 2}),
      draw_run(random(), {.steps = 12, .two_layers = true, .lr = 0.03125, .growth_interval = 4}),
      draw_run(random(), {.steps = 12,
                          .two_layers = true,
                          .lr = 0.03125,
                          .max_norm = 1,
                          .init_scale = 128,
                          .growth_interval = 5}),
      draw_run(random(), {.steps = 40, .max_norm = 3, .init_scale = 16, .growth_interval = 10}),
  };
  const auto got = judged("mixed_steps", cases);
  const auto want = reference().observe("mixed_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got,
                Tensors("weights_after_steps", near_reference(run, "weights_after_steps")));
    EXPECT_THAT(run.got,
                Tensors("momentum_after_steps", near_reference(run, "momentum_after_steps")));
  }
}

TEST_F(StepOrder, task1_the_limit_is_for_true_gradients) {
  // Norms of about 5 to 30: below a limit of 50, though far above it while they are scaled, and
  // above a limit of 1.
  std::vector<Case> cases;
  for (const bool two_layers : {false, true}) {
    for (const double max_norm : {50.0, 1.0}) {
      cases.push_back(draw_run(
          random(), {.steps = 3, .two_layers = two_layers, .momentum = 0, .max_norm = max_norm}));
    }
  }
  const auto got = judged("mixed_steps", cases);
  const auto want = reference().observe("mixed_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got,
                Tensors("weights_after_steps", near_reference(run, "weights_after_steps")));
  }
}

TEST_F(StepOrder, task1_every_group_of_parameters_is_clipped) {
  const auto cases = draw(3, [](Random& random, int) {
    auto in = draw_run(
        random,
        {.steps = 1, .two_layers = true, .momentum = 0, .max_norm = 0.5, .init_scale = 128});
    return in.integer("weights_in_first_group", 1);
  });
  const auto got = judged("mixed_steps", cases);
  const auto want = reference().observe("mixed_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got,
                Tensors("weights_after_steps", near_reference(run, "weights_after_steps")));
  }
}

TEST_F(StepOrder, task1_scale_and_tracker_at_every_step) {
  std::vector<Case> cases{
      draw_run(random(), {.steps = 4, .growth_interval = 1}),
      draw_run(random(), {.steps = 8, .growth_interval = 2}),
      draw_run(random(), {.steps = 12, .two_layers = true, .lr = 0.03125, .growth_interval = 3}),
      // The golden run's search for its scale, 800 * 2^k below 65504: from 65536 down to 64.
      golden(12, 10, 0.1, 1).integer("init_scale", 65536).integer("growth_interval", 2000),
  };
  cases.push_back(at_first_scale(random(), 2));
  for (int i = 0; i < 3; ++i) {
    const auto last = static_cast<int64_t>(batch_count(cases[static_cast<size_t>(i)])) - 1;
    auto& in = cases[static_cast<size_t>(i)];
    overflow(in, static_cast<size_t>(random().integer(1, last - 1)), overflow_of(i));
  }
  const auto got = judged("mixed_steps", cases);
  const auto want = reference().observe("mixed_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    for (const std::string what : {"scale_after_steps", "growth_tracker_after_steps"}) {
      EXPECT_THAT(run.got, Tensors(what, as_reference(run, what)));
    }
  }
}

// Runs with two batches that overflow, the first one among them in every second run.
std::vector<Case> runs_with_skips(Random& random) {
  std::vector<Case> cases;
  for (int i = 0; i < kOverflows; ++i) {
    auto in = draw_run(random, {.steps = 5, .two_layers = i >= 2, .lr = i >= 2 ? 0.03125 : 0.125});
    overflow(in, i % 2 == 0 ? 1 : 0, overflow_of(i));
    overflow(in, 3, overflow_of(i + 1));
    cases.push_back(in);
  }
  return cases;
}

TEST_F(StepOrder, task1_overflow_leaves_weights_and_momentum) {
  const auto cases = runs_with_skips(random());
  const auto got = judged("mixed_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    const auto skips = skips_of(run.in);
    const auto start = start_of(run.in);
    const auto unchanged = [&](const std::string& what, const torch::Tensor& from) {
      return Tensors(what, unchanged_where(skips, list_of(run.got, what), from));
    };
    EXPECT_THAT(run.got, unchanged("weights_after_steps", start));
    EXPECT_THAT(run.got, unchanged("momentum_after_steps", torch::zeros_like(start)));
  }
}

TEST_F(StepOrder, task1_the_batch_after_an_overflow_trains) {
  const auto cases = runs_with_skips(random());
  const auto got = judged("mixed_steps", cases);
  const auto want = reference().observe("mixed_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got,
                Tensors("weights_after_steps", near_reference(run, "weights_after_steps")));
  }
}

TEST_F(StepOrder, task1_forward_runs_in_float16) {
  const auto cases = draw(2, [](Random& random, int) { return draw_run(random, {.steps = 1}); });
  const auto got = judged("mixed_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("type_of_model_output", "float16"));
  }
}

TEST_F(StepOrder, task1_autocast_ends_before_backward) {
  const auto cases = draw(2, [](Random& random, int) { return draw_run(random, {.steps = 1}); });
  const auto got = judged("mixed_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Number("backwards_inside_the_region", Near(0, 0)));
    EXPECT_THAT(run.got, Number("calls_that_left_autocast_on", Near(0, 0)));
  }
}

}  // namespace
