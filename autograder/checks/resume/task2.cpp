// resume.2: scaler and schedule.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::resume_checks;

const std::string kScalerPart = "scaler";

// Cuts after a step, at a tracker of 1 and of 0.
std::vector<Case> cuts_after_a_step(Random& random) {
  return {
      draw_run(random, {.part = kScalerPart, .calls = 4, .cut = 2}),
      draw_run(random, {.part = kScalerPart, .calls = 8, .cut = 4}),
      draw_run(random, {.part = kScalerPart, .calls = 12, .cut = 4, .growth_interval = 3}),
  };
}

TEST_F(Resume, task2_scale_and_tracker_go_on) {
  const auto cases = cuts_after_a_step(random());
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"scale", "tracker"});
}

TEST_F(Resume, task2_factors_and_interval_come_back) {
  std::vector<Case> cases{
      // Growth only, backoff only, both.
      draw_run(random(), {.part = kScalerPart, .calls = 4, .cut = 2, .growth_interval = 1}),
      draw_run(random(), {.part = kScalerPart, .calls = 6, .cut = 2, .has_bad = true}),
      draw_run(random(),
               {.part = kScalerPart, .calls = 12, .cut = 4, .examples = 3, .has_bad = true}),
  };
  for (auto& in : cases) {
    in.number("growth_factor", 4).number("backoff_factor", 0.5);
  }
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"scale", "tracker"});
}

TEST_F(Resume, task2_the_schedule_goes_on) {
  const auto cases = cuts_after_a_step(random());
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"steps", "weights"});
}

// The gradients are there, the next call unscales them.
TEST_F(Resume, task2_a_cut_before_the_step) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kScalerPart, .calls = 4, .cut = 3}),
      draw_run(random(), {.part = kScalerPart, .calls = 9, .cut = 5, .window = 2}),
      draw_run(random(), {.part = kScalerPart, .calls = 10, .cut = kEveryCall}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task2_overflows_on_both_sides) {
  // Each epoch of three has a skip, before and after the cut; the last epoch before it begins with
  // one, so that the tracker is at 1.
  auto in = draw_run(random(), {.part = kScalerPart, .calls = 24, .cut = 11, .examples = 3});
  make_bad(in, example_of(in, 3));
  const std::vector<Case> cases{in};
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task2_another_process_reads_the_scaler) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kScalerPart, .calls = 8, .cut = 6, .by_another_process = true})};
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task2_a_used_scaler_forgets) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kScalerPart, .calls = 4, .cut = 0, .into_used = true}),
      draw_run(random(), {.part = kScalerPart, .calls = 8, .cut = 6, .into_used = true}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task2_a_disabled_scaler_goes_on) {
  std::vector<Case> cases{
      draw_run(random(), {.part = kScalerPart, .calls = 4, .cut = 2}),
      draw_run(random(), {.part = kScalerPart, .calls = 8, .cut = 5}),
  };
  for (auto& in : cases) in.integer("disabled", 1);
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task2_an_empty_state_is_refused) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kScalerPart, .calls = 4, .cut = 2}),
      draw_run(random(), {.part = kScalerPart, .calls = 8, .cut = 5}),
  };
  const auto got = subject().observe("empty_state", cases);
  const auto want = reference().observe("empty_state", cases);
  for (const auto& run : together(cases, got, want)) EXPECT_THAT(run.got, ThrewRuntimeError());
  expect_reference(together(cases, got, want));
}

}  // namespace
