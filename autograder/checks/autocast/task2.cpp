// autocast.2: one training step, its backward outside the region.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::autocast_checks;

std::vector<Case> drawn_steps(Random& random, int layers) {
  std::vector<Case> cases;
  for (const auto& dtype : dtypes()) {
    cases.push_back(one_layer(dtype, one(2), one(1), one(0)).number("learning_rate", 0.25));
    for (int i = 1; i <= layers; ++i) {
      cases.push_back(draw_model(random, dtype, i).number("learning_rate", 0.25));
    }
  }
  return cases;
}

TEST_F(Autocast, task2_one_step_by_hand) {
  struct Worked {
    double weight, x, y, rate, loss, after;
  };
  // loss (wx - y)^2, gradient 2x(wx - y)
  const std::vector<Worked> worked{
      {1, 1, 0, 0.25, 1, 0.5},
      {2, 1, 0, 0.125, 4, 1.5},
      {0, 2, 3, 0.25, 9, 3},
      {1, 1, 300, 0.0009765625, 89401, 1.583984375},  // a loss that no float16 holds
  };
  std::vector<Case> cases;
  std::vector<Worked> expected;
  for (const auto& dtype : dtypes()) {
    for (const auto& one_of : worked) {
      cases.push_back(one_layer(dtype, one(one_of.weight), one(one_of.x), one(one_of.y))
                          .number("learning_rate", one_of.rate));
      expected.push_back(one_of);
    }
  }
  const auto got = subject().observe("step_once", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, NoError());
    const auto& by_hand = expected[i++];
    EXPECT_THAT(run.got, Number("loss", Near(by_hand.loss, by_hand.loss * 1e-5)));
    EXPECT_THAT(run.got, Tensors("parameters", close_in_half({one(by_hand.after)})));
  }
}

TEST_F(Autocast, task2_a_step_of_several_layers) {
  auto cases = drawn_steps(random(), 3);
  for (size_t i = 0; i < cases.size(); i += 2) cases[i].word("model", "as nn::Linear");
  const auto got = subject().observe("step_once", cases);
  const auto want = reference().observe("step_once", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Tensors("parameters", close_in_half(run.want.tensors("parameters"))));
  }
}

// On the CPU the numbers hardly tell; what tells is the state that backward meets.
TEST_F(Autocast, task2_backward_runs_outside_the_region) {
  const auto cases = drawn_steps(random(), 2);
  const auto got = subject().observe("step_once", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Word("state_in_backward", "autocast off"));
  }
}

TEST_F(Autocast, task2_forward_runs_in_the_region) {
  const auto cases = drawn_steps(random(), 1);
  const auto got = subject().observe("step_once", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Word("state_in_forward", "autocast on in " + run.in.word("dtype")));
  }
}

TEST_F(Autocast, task2_old_gradients_do_not_count) {
  auto cases = drawn_steps(random(), 2);
  for (auto& in : cases) in.number("old_gradients", 64);
  const auto got = subject().observe("step_once", cases);
  const auto want = reference().observe("step_once", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Tensors("parameters", close_in_half(run.want.tensors("parameters"))));
  }
}

TEST_F(Autocast, task2_the_state_after_a_step) {
  std::vector<Case> cases;
  for (const auto& caller : callers_outside()) {
    for (const auto& dtype : dtypes()) {
      cases.push_back(one_layer(dtype, one(2), one(1), one(0))
                          .number("learning_rate", 0.25)
                          .word("caller", caller));
    }
  }
  const auto got = subject().observe("step_once", cases);
  const auto want = reference().observe("step_once", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("state_afterwards", run.want.word("state_afterwards")));
  }
}

TEST_F(Autocast, task2_a_step_that_throws_changes_nothing) {
  std::vector<Case> cases;
  for (const auto* kind : {"std::out_of_range", "a number"}) {
    for (const double old : {0.0, 64.0}) {
      cases.push_back(one_layer("float16", one(2), one(1), one(0))
                          .number("learning_rate", 0.25)
                          .number("old_gradients", old)
                          .word("throws", kind));
    }
  }
  const auto got = subject().observe("step_that_throws", cases);
  const auto want = reference().observe("step_that_throws", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("exception_that_comes_out", "the one that was thrown"));
    EXPECT_THAT(run.got, Word("state_afterwards", run.want.word("state_afterwards")));
    EXPECT_THAT(run.got,
                Tensors("parameters", BitEqualTo(run.want.tensors("parameters"), "unchanged")));
  }
}

}  // namespace
