// The contract of the clipping lab. Read it; write your answers in clipping.cpp, not here.
// Formulas and a worked example: handouts/clipping.md.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <gradlab/contract.hpp>
#include <vector>

namespace clipping {

// In every task `parameters` is a list of tensors of any shape, 0-dim and empty ones too; what is
// clipped are their gradients, `parameter.grad()`. A parameter without a gradient (an undefined
// tensor) is passed over and stays without one. A parameter with a gradient counts, whatever its
// requires_grad, as in LibTorch's own clipping. The parameters themselves never change.
// REQUIRES: no tensor twice; dense gradients on the CPU; max_norm finite and >= 0.

// Task 1. The L2 norm of all gradients taken as one vector: sqrt(sum of every element squared).
// Returns 0.0 where there is no gradient. Changes nothing.
// REQUIRES: float32, float64, float16 or bfloat16 gradients.
// ENSURES: float64 within the rounding of a float64 sum, float32 within that of a float32 sum
// (relative 1e-5, or n * 2^-25 for n elements), float16 and bfloat16 within the rounding of their
// type. Any order of summation counts; where float32 squares overflow or vanish, so do inf and 0.
double total_norm(const std::vector<torch::Tensor>& parameters);

// Task 2. Clips all gradients together, in place (same storage), to at most max_norm:
//   coefficient = max_norm / (norm + 1e-6), applied only where it is below 1.
// Returns the norm *before* clipping. max_norm 0 makes every gradient zero.
// Closer to the limit than 1e-6, leaving the gradients alone and shrinking them both count.
// REQUIRES: float32 or float64 gradients with a finite norm.
// SOURCE: CS336 assignment 1, section 4.5; torch.nn.utils.clip_grad_norm_ for the constant.
double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm);

// Task 3. As task 2, but a norm that is inf or NaN throws std::runtime_error and changes nothing.
// REQUIRES: float32 or float64 gradients.
double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm);

// Task 4. From step == warmup_steps on, clips as task 2 and returns true, also when the norm was
// small. Before that, touches nothing and returns false.
// REQUIRES: float32 or float64 gradients with a finite norm; step >= 0, warmup_steps >= 0.
// SOURCE: Build a Large Language Model (From Scratch), appendix D.4.
bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps);

// One implementation of the lab: the student's, the reference's, or a known mistake's.
struct Impl {
  gradlab::Function<decltype(clipping::total_norm)> total_norm{"clipping.1"};
  gradlab::Function<decltype(clipping::clip_gradients)> clip_gradients{"clipping.2"};
  gradlab::Function<decltype(clipping::clip_gradients_checked)> clip_gradients_checked{
      "clipping.3"};
  gradlab::Function<decltype(clipping::clip_after_warmup)> clip_after_warmup{"clipping.4"};
};

GRADLAB_CONTRACT(total_norm, clip_gradients, clip_gradients_checked, clip_after_warmup)

}  // namespace clipping
