// resume.3: the generator of the noise, and the order of the data.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::resume_checks;

const std::string kRandomPart = "random";

// One example: every order is the same. Runs of one and of several draws before the cut.
TEST_F(Resume, task3_noise_goes_on) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kRandomPart, .calls = 3, .cut = 1, .examples = 1}),
      draw_run(random(), {.part = kRandomPart, .calls = 12, .cut = 7, .window = 3, .examples = 1}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"loss"});
}

// The cut is inside an epoch, and so is the end: two of two calls is a micro-batch.
TEST_F(Resume, task3_order_goes_on_inside_an_epoch) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kRandomPart, .calls = 4, .cut = 2}),
      draw_run(random(), {.part = kRandomPart, .calls = 10, .cut = 5, .examples = 6}),
      draw_run(random(), {.part = kRandomPart, .calls = 12, .cut = 4, .examples = 6}),
      draw_run(random(), {.part = kRandomPart, .calls = 22, .cut = 16, .examples = 6}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"example"});
}

TEST_F(Resume, task3_later_epochs_are_drawn_anew) {
  std::vector<Case> cases;
  for (const int64_t cut : {2, 5, 12}) {
    cases.push_back(
        draw_run(random(), {.part = kRandomPart, .calls = 24, .cut = cut, .examples = 5}));
  }
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want), {"example"});
}

TEST_F(Resume, task3_random_cut_at_every_call) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kRandomPart, .calls = 4, .cut = kEveryCall}),
      draw_run(random(), {.part = kRandomPart, .calls = 24, .cut = kEveryCall, .examples = 5}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task3_another_process_reads_the_generators) {
  const std::vector<Case> cases{draw_run(
      random(),
      {.part = kRandomPart, .calls = 24, .cut = 3, .examples = 5, .by_another_process = true})};
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task3_a_used_order_forgets) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kRandomPart, .calls = 4, .cut = 0, .into_used = true}),
      draw_run(random(),
               {.part = kRandomPart, .calls = 24, .cut = 6, .examples = 5, .into_used = true}),
  };
  const auto got = subject().observe("resumed", cases);
  const auto want = reference().observe("resumed", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task3_saving_draws_nothing) {
  const std::vector<Case> cases{
      draw_run(random(), {.part = kRandomPart, .calls = 4}),
      draw_run(random(), {.part = kRandomPart, .calls = 16, .examples = 3}),
  };
  const auto got = subject().observe("saved_along", cases);
  const auto want = reference().observe("saved_along", cases);
  expect_reference(together(cases, got, want));
}

}  // namespace
