// resume.1: weights and optimizer.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::resume_checks;

[[maybe_unused]] const bool kIdle = add_idle_answers<resume::Impl>();

const std::string kModelPart = "model";

TEST_F(Resume, task1_weights_come_back) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kModelPart, .calls = 2, .cut = 2}),
      draw_run(random(), {.part = kModelPart, .calls = 6, .cut = 6, .two_layers = true}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got,
                Tensors("weights_when_loaded", BitEqualTo(run.want.tensors("weights_when_saved"))));
  }
}

TEST_F(Resume, task1_the_optimizer_goes_on) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kModelPart, .calls = 4, .cut = 2}),
      draw_run(random(), {.part = kModelPart, .calls = 12, .cut = 6}),
      draw_run(random(), {.part = kModelPart, .calls = 16, .cut = 8, .two_layers = true}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task1_model_cut_at_every_call) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kModelPart, .calls = 4, .cut = kEveryCall}),
      draw_run(
          random(),
          {.part = kModelPart, .calls = 9, .cut = kEveryCall, .window = 2, .two_layers = true}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task1_forty_steps_with_overflows) {
  const std::vector<Case> cases{draw_forty_steps(random(), {.part = kModelPart})};
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task1_another_process_reads_the_model) {
  const std::vector<Case> cases{draw_run(
      random(),
      {.part = kModelPart, .calls = 6, .cut = 4, .two_layers = true, .by_another_process = true})};
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

// Also what a run saves that has not taken a step yet: there the optimizer knows nothing.
TEST_F(Resume, task1_a_used_optimizer_forgets) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kModelPart, .calls = 4, .cut = 0, .into_used = true}),
      draw_run(random(),
               {.part = kModelPart, .calls = 8, .cut = 4, .two_layers = true, .into_used = true}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task1_saving_the_model_changes_nothing) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kModelPart, .calls = 4}),
      draw_run(random(), {.part = kModelPart, .calls = 12, .window = 2, .two_layers = true}),
  };
  const auto got = subject().observe("saved_along", cases);
  const auto want = reference().observe("saved_along", cases);
  expect_reference(together(cases, got, want));
}

}  // namespace
