// event_log.1: what a record says of a step that was taken.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::event_log_checks;

TEST_F(EventLog, task1_one_step_worked_by_hand) {
  // Norm 5 and 13; cut to 1 and to 6.5; a step without clipping; and a loss of 0.
  const std::vector<Plan> plans{
      {.gradients = {{3, 4}}, .losses = {2}, .max_norm = 1},
      {.gradients = {{5, -12}}, .losses = {0.5}, .scale = 1024, .max_norm = 6.5, .first_step = 7},
      {.gradients = {{3, 4}}, .losses = {0}, .max_norm = 20},
  };
  const std::vector<double> norms{5, 13, 5}, losses{2, 0.5, 0}, scales{64, 1024, 64};
  std::vector<Case> cases;
  for (const auto& plan : plans) cases.push_back(run_of(plan));
  const auto got = subject().observe("logged_steps", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Tensors("step_of_records",
                                 exactly({static_cast<double>(run.in.integer("first_step"))})));
    EXPECT_THAT(run.got, Tensors("loss_of_records", exactly({losses[i]})));
    EXPECT_THAT(run.got, Tensors("norm_of_records",
                                 CloseTo(numbers({norms[i]}), {.absolute = 0, .relative = 1e-5})));
    EXPECT_THAT(run.got, Tensors("scale_of_records", exactly({scales[i]})));
    EXPECT_THAT(run.got, Tensors("skipped_of_records", FlagsEqualTo({false})));
    EXPECT_THAT(run.got, Tensors("lr_of_records", exactly({0.5})));
    ++i;
  }
}

TEST_F(EventLog, task1_loss_is_unscaled) {
  std::vector<Case> cases{run_of({.gradients = {{1, 2}}, .losses = {2}, .scale = 1024})};
  for (const size_t steps : {3, 5}) {
    cases.push_back(run_of({.gradients = draw_gradients(random(), steps, 2),
                            .losses = draw_losses(random(), steps),
                            .scale = 256,
                            .growth_interval = 2,
                            .max_norm = 2}));
  }
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Tensors("loss_of_records", exactly(values_of(run.in.tensors("losses")))));
  }
}

// Growth and backoff, so that the scale of a step, and the one after it, differ both ways.
TEST_F(EventLog, task1_scale_is_the_one_in_use) {
  std::vector<Case> cases{
      run_of({.gradients = {{1, 2}}, .growth_interval = 1}),
      run_of({.gradients = {{kTooLarge, 2}}, .scale = 1024, .max_norm = 1}),
  };
  for (const size_t at : {1, 2}) {
    auto gradients = draw_gradients(random(), 6, 2);
    gradients[at][0] = kTooLarge;
    cases.push_back(run_of({.gradients = gradients, .growth_interval = 2, .max_norm = 1}));
  }
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    const auto want = expected(run.in);
    EXPECT_THAT(run.got, Tensors("scale_of_records", exactly(want.scales)));
    EXPECT_THAT(run.got, Tensors("scale_after_of_records", exactly(want.scales_after)));
  }
}

TEST_F(EventLog, task1_norm_is_true_and_before_clipping) {
  std::vector<Case> cases{
      run_of({.gradients = {{6, 8}}, .max_norm = 1}),
      run_of({.gradients = {{6, 8}}, .scale = 4, .max_norm = 100}),
  };
  for (const double limit : {0.5, 2.0, 64.0}) {
    cases.push_back(run_of({.gradients = draw_gradients(random(), 4, 3),
                            .scale = 16,
                            .growth_interval = 2,
                            .max_norm = limit}));
  }
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Tensors("norm_of_records", norms(run, expected(run.in))));
  }
}

TEST_F(EventLog, task1_norm_is_measured_without_a_limit) {
  std::vector<Case> cases{run_of({.gradients = {{6, 8}}})};
  for (const int64_t scale : {2, 512}) {
    cases.push_back(run_of({.gradients = draw_gradients(random(), 3, 2), .scale = scale}));
  }
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Tensors("norm_of_records", norms(run, expected(run.in))));
  }
}

TEST_F(EventLog, task1_every_group_counts) {
  std::vector<Case> cases{
      run_of({.gradients = {{3, 4}}, .max_norm = 100, .in_first_group = 1}),
      run_of({.gradients = {{3, 4}}, .max_norm = 1, .in_first_group = 1}),
  };
  for (const size_t size : {3, 5}) {
    cases.push_back(run_of({.gradients = draw_gradients(random(), 2, size),
                            .max_norm = 1,
                            .in_first_group = random().integer(1, 2)}));
  }
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Tensors("norm_of_records", norms(run, expected(run.in))));
  }
}

// What clipping did is seen in what the optimizer stepped with. At the limit itself both are right:
// to shrink by a millionth, and to leave alone.
std::vector<bool> shrunk(const Run& run) {
  const auto& stepped_with = run.got.tensors("gradients_of_steps");
  const auto& gradients = run.in.tensors("gradients");
  std::vector<bool> all;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const bool stepped = i < stepped_with.size() && stepped_with[i].defined();
    all.push_back(stepped && !torch::equal(stepped_with[i], gradients[i]));
  }
  return all;
}

TEST_F(EventLog, task1_clipped_says_what_was_done) {
  std::vector<Case> cases{
      run_of({.gradients = {{3, 4}}, .max_norm = 1}),
      run_of({.gradients = {{3, 4}}, .max_norm = 8}),
      run_of({.gradients = {{3, 4}}}),
      run_of({.gradients = {{2}}, .max_norm = 2}),
      run_of({.gradients = {{1, -1, 1, 1}}, .max_norm = 2}),
      run_of({.gradients = {{3, 4}}, .scale = {}, .max_norm = 1}),
  };
  const auto gradients = draw_gradients(random(), 5, 2);  // norms from 0.35 to 5.7
  for (const double limit : {0.25, 8.0}) {
    cases.push_back(run_of({.gradients = gradients, .max_norm = limit}));
  }
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Tensors("clipped_of_records", FlagsEqualTo(shrunk(run))));
  }
}

TEST_F(EventLog, task1_lr_is_that_of_the_step) {
  std::vector<Case> cases{run_of({.gradients = {{3, 4}}, .decay = 0.5})};
  for (const double decay : {0.5, 0.25}) {
    auto gradients = draw_gradients(random(), 4, 2);
    gradients[static_cast<size_t>(random().integer(1, 2))][1] = kTooLarge;
    cases.push_back(run_of({.gradients = gradients,
                            .max_norm = 1,
                            .lr = random().pick<double>({0.5, 2, 0.125}),
                            .decay = decay,
                            .in_first_group = 1}));
  }
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Tensors("lr_of_records", exactly(expected(run.in).rates)));
  }
}

}  // namespace
