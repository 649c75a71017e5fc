// step_order.2: one step from a window of micro-batches.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::step_order_checks;

// Windows of `window` micro-batches; the last one is shorter where `steps` is no multiple. All
// micro-batches have as many rows: where they differ the mean is worked by hand.
Case draw_windows(Random& random, int64_t window, Plan plan) {
  plan.rows = random.integer(1, 3);
  return draw_run(random, plan).integer("window", window);
}

std::vector<bool> window_skips(const Case& in) {
  return skips_of(in, {}, static_cast<size_t>(in.integer("window")));
}

void expect_reference(const Together& runs, const std::vector<std::string>& exact = {}) {
  for (const auto& run : runs) {
    EXPECT_THAT(run.got,
                Tensors("weights_after_windows", near_reference(run, "weights_after_windows")));
    for (const auto& what : exact) EXPECT_THAT(run.got, Tensors(what, as_reference(run, what)));
  }
}

TEST_F(StepOrder, task2_one_window_worked_by_hand) {
  // One weight of 1, targets 0, learning rate 1/16: a micro-batch x has the gradient 2 x^2.
  const auto window_of = [&](const std::vector<double>& x) {
    auto in = one_row({1}, {x.front()}, 0, 0.0625, kNoLimit, int64_t{1} << random().integer(3, 7));
    for (size_t i = 1; i < x.size(); ++i) add_batch(in, {x[i]}, 0);
    return in.integer("window", static_cast<int64_t>(x.size()));
  };
  const double u = static_cast<double>(random().integer(2, 6)) / 4;
  // A row of 1 and three rows of 2: the losses 1 and 4 count alike.
  auto rows = window_of({1, 2});
  auto inputs = rows.tensors("inputs"), targets = rows.tensors("targets");
  inputs[1] = torch::full({3, 1}, 2.0F);
  targets[1] = torch::zeros({3, 1});
  rows.set("inputs", inputs).set("targets", targets);
  const auto first = at_first_scale(random(), 2).integer("window", 2);
  const std::vector<Case> cases{window_of({u, 2 * u}), window_of({1, 3}), rows, first,
                                window_of({1, 1, 2})};
  const std::vector<double> worked{1 - 5 * u * u / 16, 1 - 10.0 / 16, 1 - 5.0 / 16,
                                   start_of(first).item<double>() / 2, 1 - 4.0 / 16};
  const auto got = judged("accumulated_steps", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    // A third has no float16 of its own: 2^-11 of a gradient of 4 in all.
    EXPECT_THAT(run.got,
                Tensors("weights_after_windows", CloseTo({row({worked[i]})}, {.absolute = 1e-3})));
    ++i;
  }
}

TEST_F(StepOrder, task2_weights_over_many_windows) {
  const std::vector<Case> cases{
      // A small scale, so that what an old gradient adds is not divided away.
      draw_windows(random(), 2, {.steps = 6, .momentum = 0, .init_scale = 4}),
      draw_windows(random(), 2, {.steps = 8, .max_norm = 1}),
      draw_windows(random(), 2, {.steps = 24, .init_scale = 16, .growth_interval = 3}),
      draw_windows(random(), 3, {.steps = 12, .two_layers = true, .lr = 0.03125}),
  };
  const auto got = judged("accumulated_steps", cases);
  const auto want = reference().observe("accumulated_steps", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(StepOrder, task2_a_short_window_counts_its_own_batches) {
  const std::vector<Case> cases{
      draw_windows(random(), 2, {.steps = 3, .momentum = 0}),
      draw_windows(random(), 4, {.steps = 6, .momentum = 0}),
      draw_windows(random(), 3, {.steps = 7, .momentum = 0}),
  };
  const auto got = judged("accumulated_steps", cases);
  const auto want = reference().observe("accumulated_steps", cases);
  expect_reference(together(cases, got, want));
}

// The limit of 6 lies above a micro-batch's true norm and below the sum of three; that of 1 below
// all.
TEST_F(StepOrder, task2_the_window_is_clipped_as_a_whole) {
  // Gradients 2 x^2 = 4.5 in each micro-batch: their mean is below 6, their sum is not.
  auto below = one_row({1}, {1.5}, 0, 0.0625, 6, 64);
  for (int i = 0; i < 2; ++i) add_batch(below, {1.5}, 0);
  const std::vector<Case> cases{
      draw_windows(random(), 2, {.steps = 4, .momentum = 0, .max_norm = 1}),
      below.integer("window", 3),
      draw_windows(random(), 3, {.steps = 6, .two_layers = true, .momentum = 0, .max_norm = 1}),
  };
  const auto got = judged("accumulated_steps", cases);
  const auto want = reference().observe("accumulated_steps", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(StepOrder, task2_the_scale_moves_once_a_window) {
  const std::vector<Case> cases{
      draw_windows(random(), 2, {.steps = 6, .lr = 0.03125, .growth_interval = 1}),
      at_first_scale(random(), 4).integer("window", 2),
      draw_windows(random(), 3, {.steps = 12, .lr = 0.03125, .growth_interval = 2}),
  };
  const auto got = judged("accumulated_steps", cases);
  const auto want = reference().observe("accumulated_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    for (const std::string what : {"scale_after_windows", "growth_tracker_after_windows"}) {
      EXPECT_THAT(run.got, Tensors(what, as_reference(run, what)));
    }
  }
}

// Three windows of three; the overflow is in the first, a middle and the last micro-batch of the
// second window, and of the first one.
std::vector<Case> windows_with_skips(Random& random) {
  std::vector<Case> cases;
  for (int i = 0; i < kOverflows; ++i) {
    auto in = draw_windows(random, 3, {.steps = 9, .two_layers = i == 2, .lr = 0.03125});
    overflow(in, static_cast<size_t>(i == 3 ? 0 : 3 + i), overflow_of(i));
    cases.push_back(in);
  }
  return cases;
}

TEST_F(StepOrder, task2_overflow_anywhere_skips_the_window) {
  const auto cases = windows_with_skips(random());
  const auto got = judged("accumulated_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    const auto skips = window_skips(run.in);
    const auto start = start_of(run.in);
    const auto unchanged = [&](const std::string& what, const torch::Tensor& from) {
      return Tensors(what, unchanged_where(skips, list_of(run.got, what), from));
    };
    EXPECT_THAT(run.got, unchanged("weights_after_windows", start));
    EXPECT_THAT(run.got, unchanged("momentum_after_windows", torch::zeros_like(start)));
  }
}

TEST_F(StepOrder, task2_the_window_after_an_overflow_trains) {
  const auto cases = windows_with_skips(random());
  const auto got = judged("accumulated_steps", cases);
  const auto want = reference().observe("accumulated_steps", cases);
  expect_reference(together(cases, got, want),
                   {"scale_after_windows", "growth_tracker_after_windows"});
}

}  // namespace
