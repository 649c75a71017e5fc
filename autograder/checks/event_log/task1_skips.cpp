// event_log.1: steps that were skipped, loops without a scaler, and the step itself.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::event_log_checks;

// Its scale grows in some steps and falls in others; its losses are all finite.
Case draw_run_with_skips(Random& random) {
  auto gradients = draw_gradients(random, 5, 2);
  gradients[static_cast<size_t>(random.integer(0, 1))][0] = kTooLarge;
  gradients[static_cast<size_t>(random.integer(2, 4))][1] = -kTooLarge;
  return run_of({.gradients = gradients,
                 .scale = 256,
                 .growth_interval = 1,
                 .max_norm = random.pick<double>({1, 100})});
}

TEST_F(EventLog, task1_skips_are_told) {
  std::vector<Case> cases{
      run_of({.gradients = {{kTooLarge, 1}}, .max_norm = 1}),
      run_of({.gradients = {{1, kTooLarge}}}),
      run_of({.gradients = {{3, 4}}, .growth_interval = 1, .max_norm = 1}),
      run_of({.gradients = {{kInfinity, 1}}, .max_norm = 1}),
  };
  for (int i = 0; i < 3; ++i) cases.push_back(draw_run_with_skips(random()));
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    const auto want = expected(run.in);
    EXPECT_THAT(run.got, Tensors("skipped_of_records", FlagsEqualTo(want.overflows)));
    EXPECT_THAT(run.got, Tensors("norm_of_records", norms_of_skips(run, want)));
  }
}

// An overflow comes last there: nothing skips it, and the weights are lost.
TEST_F(EventLog, task1_without_a_scaler) {
  std::vector<Case> cases{
      run_of({.gradients = {{3, 4}}, .scale = {}, .max_norm = 20}),
      run_of({.gradients = {{3, 4}}, .scale = {}}),
      run_of({.gradients = {{kTooLarge, 1}}, .scale = {}}),
  };
  auto gradients = draw_gradients(random(), 3, 2);
  gradients.back()[0] = kTooLarge;
  cases.push_back(run_of({.gradients = gradients, .scale = {}, .max_norm = 20, .decay = 0.5}));
  const auto got = subject().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, got)) {
    const auto want = expected(run.in);
    const List none(want.norms.size());
    EXPECT_THAT(run.got, Tensors("scale_of_records", BitEqualTo(none)));
    EXPECT_THAT(run.got, Tensors("scale_after_of_records", BitEqualTo(none)));
    EXPECT_THAT(run.got, Tensors("skipped_of_records",
                                 FlagsEqualTo(std::vector<bool>(want.norms.size(), false))));
    EXPECT_THAT(run.got, Tensors("norm_of_records", norms(run, want)));
  }
}

// To log a step must not change it.
TEST_F(EventLog, task1_the_step_is_as_before) {
  std::vector<Case> cases{
      run_of({.gradients = {{3, 4}}, .max_norm = 1}),
      run_of({.gradients = {{3, 4}}, .growth_interval = 1, .decay = 0.5}),
      run_of({.gradients = {{3, 4}}, .scale = {}, .max_norm = 2.5, .decay = 0.5}),
      run_of({.gradients = {{kTooLarge, 4}, {3, 4}}, .max_norm = 1, .decay = 0.5}),
      // Taken, and only one of two weights is lost; a limit of infinity would lose the other, too.
      run_of({.gradients = {{kTooLarge, 4}}, .scale = {}}),
  };
  for (int i = 0; i < 3; ++i) cases.push_back(draw_run_with_skips(random()));
  const auto got = subject().observe("logged_steps", cases);
  const auto want = reference().observe("logged_steps", cases);
  for (const auto& run : together(cases, got, want)) {
    // Another order of summation in the norm shows in the last digits of a clipped gradient.
    EXPECT_THAT(run.got,
                Tensors("weights_after_steps", CloseTo(run.want.tensors("weights_after_steps"),
                                                       {.absolute = 1e-5, .relative = 1e-5})));
    EXPECT_THAT(run.got,
                Tensors("scale_after_steps", BitEqualTo(run.want.tensors("scale_after_steps"))));
    EXPECT_THAT(run.got, Tensors("lr_after_steps", BitEqualTo(run.want.tensors("lr_after_steps"))));
  }
}

}  // namespace
