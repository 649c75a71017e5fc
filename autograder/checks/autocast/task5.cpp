// autocast.5: float16 needs its loss scaled, bfloat16 does not.
#include <algorithm>

#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::autocast_checks;

Case scaled(Case in, double scale, double rate) {
  return in.number("scale", scale).number("learning_rate", rate);
}

// w 0, x 1 and a tiny y: the gradient is -2y, of which float16 holds nothing below 3e-8, and one
// step of rate 1 leaves w = 2y.
Case tiny(const std::string& dtype, double y, double scale) {
  return scaled(one_layer(dtype, one(0), one(1), one(y)), scale, 1);
}

// Errors of at most a few, at scales that no gradient of them overflows at.
std::vector<Case> drawn_steps(Random& random, const std::string& dtype) {
  std::vector<Case> cases{
      scaled(one_layer(dtype, one(1), one(1), one(0)), 2, 0.25),
      scaled(one_layer(dtype, one(1), one(1), one(0)), 256, 0.125),
  };
  for (int i = 0; i < 3; ++i) {
    cases.push_back(scaled(draw_model(random, dtype, 1 + i), 1 << (1 + 2 * i), 0.25));
  }
  return cases;
}

// Weight decay, which no scale of the loss touches, and parameters in two groups.
std::vector<Case> other_optimizers(Random& random) {
  const auto in_groups = [](Case in) {
    return in.word("parameter groups", "two: the first parameter, the rest");
  };
  const auto line = one_layer("float16", one(1), one(1), one(0)).add("bias vectors", row(1));
  return {
      // Without an error the gradient is 0: what is left moves by weight decay alone.
      scaled(one_layer("float16", one(1), one(1), one(1)), 256, 0.25).number("weight_decay", 1),
      scaled(one_layer("float16", one(1), one(1), one(0)), 256, 0.25).number("weight_decay", 1),
      in_groups(scaled(line, 16, 0.125)),
      in_groups(scaled(draw_model(random, "float16", 2), 8, 0.25)).number("weight_decay", 0.5),
  };
}

TEST_F(Autocast, task5_float16_keeps_tiny_gradients) {
  const std::vector<Case> cases{
      tiny("float16", 1e-9, 65536),
      tiny("float16", -1e-9, 65536),
      tiny("float16", 2e-8, 8192),
      tiny("float16", 3e-10, 1 << 20),
  };
  const auto got = subject().observe("scaled_step", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, NoError());
    const double y = run.in.tensors("y").front().item<double>();
    EXPECT_THAT(run.got, Tensors("parameters", close_in_half({one(2 * y)})));
  }
}

TEST_F(Autocast, task5_float16_is_unscaled_before_the_step) {
  auto cases = drawn_steps(random(), "float16");
  for (auto& in : other_optimizers(random())) cases.push_back(std::move(in));
  const auto got = subject().observe("scaled_step", cases);
  const auto want = reference().observe("scaled_step", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Tensors("parameters", close_in_half(run.want.tensors("parameters"))));
  }
}

TEST_F(Autocast, task5_bfloat16_is_not_scaled) {
  auto cases = drawn_steps(random(), "bfloat16");
  cases.push_back(tiny("bfloat16", 1e-9, 65536));
  cases.push_back(tiny("bfloat16", 1e-30, 65536));
  const auto got = subject().observe("scaled_step", cases);
  const auto want = reference().observe("scaled_step", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, NoError());
    for (const auto* seen : {"gradient_at_the_output", "parameters"}) {
      EXPECT_THAT(run.got,
                  Tensors(seen, close_in_half(run.want.tensors(seen), largest_weight(run.in))));
    }
  }
}

TEST_F(Autocast, task5_the_loss_comes_back_unscaled) {
  auto cases = drawn_steps(random(), "float16");
  for (const auto& in : drawn_steps(random(), "bfloat16")) cases.push_back(in);
  const auto got = subject().observe("scaled_step", cases);
  const auto want = reference().observe("scaled_step", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, NoError());
    const double loss = run.want.number("loss");
    EXPECT_THAT(run.got, Number("loss", Near(loss, kInHalf * std::max(loss, kSquareOfOutputs))));
  }
}

TEST_F(Autocast, task5_scaled_backward_runs_outside) {
  std::vector<Case> cases;
  for (const auto& dtype : dtypes()) {
    cases.push_back(scaled(one_layer(dtype, one(1), one(1), one(0)), 8, 0.25));
  }
  const auto got = subject().observe("scaled_step", cases);
  const auto want = reference().observe("scaled_step", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Word("state_in_backward", "autocast off"));
    EXPECT_THAT(run.got, Word("state_afterwards", run.want.word("state_afterwards")));
  }
}

}  // namespace
