// The contract of the autocast lab. Read it; write your answers in autocast.cpp, not here.
// Worked examples and what each word means: handouts/autocast.md.
#pragma once

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <functional>
#include <gradlab/contract.hpp>
#include <vector>

namespace autocast {

// All tensors are on the CPU. The state of autocast is that of the CPU and of this thread: enabled
// or not, dtype, cache flag, nesting depth. `dtype` is torch::kFloat16 or torch::kBFloat16.

// A float32 model. `forward` uses the parameters as they are, float32, and knows nothing of
// autocast: what it computes in is what the state of the thread says. It may throw.
struct Model {
  std::vector<torch::Tensor> parameters;                         // float32, require a gradient
  std::function<torch::Tensor(const torch::Tensor& x)> forward;  // [n, in] -> [n, out]
};

struct Batch {
  torch::Tensor x;  // [n, in], float32
  torch::Tensor y;  // [n, out], float32
};

struct Pass {
  torch::Tensor output;  // [n, out], in the dtype of the region
  torch::Tensor loss;    // 0-dim, float32
};

// Task 1. Runs the model in a region of CPU autocast with this dtype. The loss is the mean of the
// squared differences of output and y, taken in float32. Changes no parameter.
// ENSURES: the loss leads back to the parameters, unless the caller switched gradients off; the
// state is afterwards what it was before, also when forward throws (whatever it throws leaves this
// function as it came). All of that wherever it is called from: outside every region, in a disabled
// one, with the cache off, in a region of another dtype that has run this model and will run it
// again.
Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype);

// Task 2. One training step: old gradients dropped, forward and loss as in task 1, backward outside
// the region (CPU autocast is off while it runs), one optimizer.step(). Returns the loss.
// REQUIRES (tasks 2, 3 and 5): called outside every region; the optimizer, with whatever options,
// holds the parameters in one group or more; the loss is finite.
// ENSURES: where forward throws, parameters and state are as before.
double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer);

// Task 3. A step as in task 2 for each batch, in order. Returns their losses.
// ENSURES: each forward uses the weights that the step before it left, and so does a forward in a
// region that the caller opens after the last step.
std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer);

// Task 4. An island of float32: calls op on the input in float32, while CPU autocast is off,
// and returns its result, float32.
// REQUIRES: a float16, bfloat16 or float32 input; called in any state, mostly within a region.
// ENSURES: gradients flow back to the input; the state is afterwards what it was before,
// also when op throws.
torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input);

// Task 5. A step as in task 2, with loss scaling where the dtype needs it. float16: backward starts
// from loss * scale, and the float32 gradients are divided by scale before the step. bfloat16:
// backward starts from the loss itself. Returns the loss, never scaled.
// REQUIRES: scale is a power of two, and no gradient overflows at that scale.
double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale);

// One implementation of the lab: the student's, the reference's, or a known mistake's.
struct Impl {
  gradlab::Function<decltype(autocast::forward_and_loss)> forward_and_loss{"autocast.1"};
  gradlab::Function<decltype(autocast::training_step)> training_step{"autocast.2"};
  gradlab::Function<decltype(autocast::train)> train{"autocast.3"};
  gradlab::Function<decltype(autocast::in_float32)> in_float32{"autocast.4"};
  gradlab::Function<decltype(autocast::scaled_training_step)> scaled_training_step{"autocast.5"};
};

GRADLAB_CONTRACT(forward_and_loss, training_step, train, in_float32, scaled_training_step)

}  // namespace autocast
