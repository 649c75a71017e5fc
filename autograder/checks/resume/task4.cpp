// resume.4: a window that is not full.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::resume_checks;

const std::string kWindowPart = "window";

// The first cut after one of two micro-batches, the second after two of three.
std::vector<Case> cuts_inside_a_window(Random& random) {
  return {
      draw_run(random, {.part = kWindowPart, .calls = 3, .cut = 1, .window = 2}),
      draw_run(random,
               {.part = kWindowPart, .calls = 9, .cut = 6, .window = 3, .two_layers = true}),
  };
}

TEST_F(Resume, task4_gathered_gradients_come_back) {
  const auto cases = cuts_inside_a_window(random());
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"weights"});
}

TEST_F(Resume, task4_the_count_comes_back) {
  const auto cases = cuts_inside_a_window(random());
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"gathered", "example"});
}

TEST_F(Resume, task4_window_cut_at_every_call) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kWindowPart, .calls = 6, .cut = kEveryCall, .window = 2}),
      draw_run(
          random(),
          {.part = kWindowPart, .calls = 12, .cut = kEveryCall, .window = 3, .two_layers = true}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

// The first example that the run draws is the bad one: what it left, inf, is gathered before the
// cut, and the window is to be skipped.
TEST_F(Resume, task4_an_overflow_before_the_cut_counts) {
  std::vector<Case> cases;
  for (const int64_t window : {2, 3}) {
    auto in = draw_run(random(), {.part = kWindowPart,
                                  .calls = 2 * window + 2,
                                  .cut = window - 1,
                                  .window = window,
                                  .examples = 4});
    make_bad(in, example_of(in, 0));
    cases.push_back(in);
  }
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"scale", "steps", "weights"});
}

TEST_F(Resume, task4_another_process_reads_the_window) {
  // At the third step: at AdamW's first one a lost gradient hardly shows, which has the length of
  // the learning rate whatever the gradient.
  const std::vector<Case> cases{draw_run(random(), {.part = kWindowPart,
                                                    .calls = 9,
                                                    .cut = 7,
                                                    .window = 2,
                                                    .two_layers = true,
                                                    .by_another_process = true})};
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

// Saved with nothing gathered, loaded where something was.
TEST_F(Resume, task4_an_empty_window_clears_a_used_one) {
  const std::vector<Case> cases{
      draw_run(random(),
               {.part = kWindowPart, .calls = 3, .cut = 0, .window = 2, .into_used = true}),
      draw_run(random(),
               {.part = kWindowPart, .calls = 9, .cut = 3, .window = 2, .into_used = true}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task4_saving_the_window_changes_nothing) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kWindowPart, .calls = 3, .window = 2}),
      draw_run(random(), {.part = kWindowPart, .calls = 12, .window = 3, .two_layers = true}),
  };
  const auto got = subject().observe("saved_along", cases);
  const auto want = reference().observe("saved_along", cases);
  expect_reference(together(cases, got, want));
}

}  // namespace
