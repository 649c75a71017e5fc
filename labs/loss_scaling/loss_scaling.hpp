// The contract of the loss scaling lab. Read it; write your answers in loss_scaling.cpp, not here.
// Formulas and worked examples: handouts/loss_scaling.md.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <gradlab/contract.hpp>
#include <vector>

namespace loss_scaling {

// Task 1. Undoes the scaling of the loss: multiplies every gradient of every group by 1 / scale, in
// place (same storage, same type), and looks for inf and NaN.
// `groups` are an optimizer's parameter groups: lists of parameters of any shape, 0-dim and empty
// ones too; any list may be empty. A parameter without a gradient (an undefined tensor) is passed
// over and stays without one; one with a gradient counts, whatever its requires_grad. The
// parameters themselves never change.
// ENSURES: found_inf is true if it was true before, or if an element of a gradient is inf, -inf or
// NaN; else it is false. Every gradient is unscaled, whatever is found; inf stays inf, and NaN NaN.
// ENSURES: exact where scale is a power of two; else within the rounding of 1 / scale to float32
// and of the product to the gradient's type. To divide by scale is as good.
// REQUIRES: no tensor twice; dense float32, float64, float16 or bfloat16 gradients on the CPU;
// scale and 1 / scale from 1e-37 to 1e37; beside a float16 or bfloat16 gradient 1 / scale is a
// number of that type; no finite gradient becomes inf or subnormal.
void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf);

// Where a loss scale stands, and how it moves. The scale is a float32, as in LibTorch.
struct LossScale {
  float scale = 65536;
  int64_t growth_tracker = 0;  // updates in a row without inf or NaN
  double growth_factor = 2;
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000;
};

// Task 2. Moves the scale at the end of a step that did or did not find inf or NaN.
//   found_inf:  scale = scale * backoff_factor, growth_tracker = 0
//   otherwise:  growth_tracker + 1; once that is growth_interval, growth_tracker = 0 and
//               scale = scale * growth_factor, unless that is no finite float32
// Nothing else bounds the scale, and nothing else of the state changes.
// ENSURES: the scale within the rounding of a factor and of the product to float32.
// REQUIRES: scale positive and finite; growth_factor > 1; 0 < backoff_factor < 1;
// 0 <= growth_tracker < growth_interval; no product within a rounding of the largest float32.
// SOURCE: torch.amp.GradScaler.update.
void update_scale(LossScale& state, bool found_inf);

// Task 3. What float16 would lose. `gradients` are true gradients, before any scaling, as tensors
// of any shape; an undefined one is passed over. Nothing is changed.
// Rounding to float16 is to nearest, ties to even: magnitudes up to 2^-25 become 0, those from
// 65520 on inf.
// REQUIRES of both: finite float32 gradients on the CPU.

// How many elements are not 0, but are 0 as a float16 once they are multiplied by scale.
// REQUIRES: scale a power of two, from 2^-100 to 2^100.
int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale);

// The smallest power of two, below 1 too, with which count_underflow is 0. Returns 0 where that
// scale makes an element inf as a float16 (then every larger one does, too), and 1 where all
// elements are 0 or there are none.
// REQUIRES: elements that are 0 or of a magnitude from 1e-20 to 1e20.
double smallest_saving_scale(const std::vector<torch::Tensor>& gradients);

// One implementation of the lab: the student's, the reference's, or a known mistake's.
struct Impl {
  gradlab::Function<decltype(loss_scaling::unscale_gradients)> unscale_gradients{"loss_scaling.1"};
  gradlab::Function<decltype(loss_scaling::update_scale)> update_scale{"loss_scaling.2"};
  gradlab::Function<decltype(loss_scaling::count_underflow)> count_underflow{"loss_scaling.3"};
  gradlab::Function<decltype(loss_scaling::smallest_saving_scale)> smallest_saving_scale{
      "loss_scaling.3"};
};

GRADLAB_CONTRACT(unscale_gradients, update_scale, count_underflow, smallest_saving_scale)

}  // namespace loss_scaling
