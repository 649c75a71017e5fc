// autocast.3: several steps, each with the weights that the one before it left.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::autocast_checks;

// A weight w, x 1, y 0 and rate 0.25: the loss is w^2, the gradient 2w, and every step halves w.
// Powers of two, so that no half type rounds.
Case halving(const std::string& dtype, double start, int steps) {
  Case in = plain(dtype).add("weights", one(start));
  for (int i = 0; i < steps; ++i) in.add("x", one(1)).add("y", one(0));
  return in.number("learning_rate", 0.25);
}

// The same with the bias in the weight's place: x is 0.
Case halving_bias(const std::string& dtype, double start, int steps) {
  Case in = plain(dtype).add("weights", one(1)).add("bias vectors", row(start));
  for (int i = 0; i < steps; ++i) in.add("x", one(0)).add("y", one(0));
  return in.number("learning_rate", 0.25).word("model", "as nn::Linear");
}

std::vector<torch::Tensor> quartered(double loss, int64_t steps) {
  std::vector<torch::Tensor> losses;
  for (; steps > 0; --steps, loss /= 4) losses.push_back(torch::tensor(loss, torch::kFloat64));
  return losses;
}

constexpr int kMostSteps = 4;

template <typename Halving>
std::vector<Case> halvings(Halving halving_of) {
  std::vector<Case> cases;
  for (const auto& dtype : dtypes()) {
    for (const double start : {1.0, -2.0}) {
      for (int steps = 2; steps <= kMostSteps; ++steps) {
        cases.push_back(halving_of(dtype, start, steps));
      }
    }
  }
  return cases;
}

double started_at(const Case& in, const char* list) {
  return in.tensors(list).front().item<double>();
}

void expect_quartered(const Together& runs, const char* list) {
  for (const auto& run : runs) {
    EXPECT_THAT(run.got, NoError());
    const double start = started_at(run.in, list);
    const auto steps = static_cast<int64_t>(run.in.tensors("x").size());
    EXPECT_THAT(run.got, Tensors("losses", CloseTo(quartered(start * start, steps),
                                                   {.absolute = 0, .relative = 1e-5})));
  }
}

TEST_F(Autocast, task3_each_step_sees_the_new_weight) {
  const auto cases = halvings(halving);
  const auto got = subject().observe("train_all", cases);
  expect_quartered(together(cases, got, got), "weights");
}

TEST_F(Autocast, task3_each_step_sees_the_new_bias) {
  const auto cases = halvings(halving_bias);
  const auto got = subject().observe("train_all", cases);
  expect_quartered(together(cases, got, got), "bias vectors");
}

TEST_F(Autocast, task3_a_run_of_several_layers) {
  std::vector<Case> cases;
  for (const auto& dtype : dtypes()) {
    for (int i = 0; i < 3; ++i) {
      cases.push_back(draw_model(random(), dtype, 1 + i, 2 + i)
                          .number("learning_rate", 0.125)
                          .word("model", i == 1 ? "as nn::Linear" : "linear"));
    }
  }
  const auto got = subject().observe("train_all", cases);
  const auto want = reference().observe("train_all", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got,
                Tensors("losses", close_in_half(run.want.tensors("losses"), kSquareOfOutputs)));
    EXPECT_THAT(run.got, Tensors("parameters", close_in_half(run.want.tensors("parameters"))));
  }
}

TEST_F(Autocast, task3_every_backward_runs_outside) {
  std::vector<Case> cases;
  for (const auto& dtype : dtypes()) {
    cases.push_back(halving(dtype, 1, 1));
    cases.push_back(halving(dtype, 1, 3));
  }
  const auto got = subject().observe("train_all", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Word("state_in_forward", "autocast on in " + run.in.word("dtype")));
    EXPECT_THAT(run.got, Word("state_in_backward", "autocast off"));
  }
}

TEST_F(Autocast, task3_the_callers_next_forward_sees_the_weights) {
  std::vector<Case> cases;
  std::vector<torch::Tensor> worked;
  for (const auto& dtype : dtypes()) {
    for (int steps = 1; steps <= 3; ++steps) {
      const auto left = half_of(one(std::pow(0.5, steps)), dtype);
      cases.push_back(halving(dtype, 1, steps));
      worked.push_back(left);
      cases.push_back(halving_bias(dtype, 1, steps));
      worked.push_back(left);
    }
  }
  const auto got = subject().observe("train_then_evaluate", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Tensors("output_after_training", BitEqualTo({worked[i++]})));
  }
}

TEST_F(Autocast, task3_the_state_after_training) {
  std::vector<Case> cases;
  for (const auto& caller : callers_outside()) {
    cases.push_back(halving("float16", 1, 0).word("caller", caller));
    cases.push_back(halving("float16", 1, 2).word("caller", caller));
    cases.push_back(halving("bfloat16", 1, 3).word("caller", caller));
  }
  const auto got = subject().observe("train_all", cases);
  const auto want = reference().observe("train_all", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("state_afterwards", run.want.word("state_afterwards")));
  }
}

}  // namespace
