// The contract of the step_order lab. Read it; write your answers in step_order.cpp, not here.
// The story and worked examples: handouts/step_order.md. The AMP library: handouts/amp.md.
#pragma once

#include <torch/optim/schedulers/lr_scheduler.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <gradlab/amp/amp.hpp>
#include <gradlab/contract.hpp>
#include <vector>

namespace step_order {

// ---- given

// Rows of inputs and targets, float32: x is [rows, in], y is [rows, out].
struct Batch {
  torch::Tensor x;
  torch::Tensor y;
};

// Weights (float32 leaves that require gradients, all of them the optimizer's) and a forward pass
// from x to a prediction of y's shape.
struct Model {
  std::vector<torch::Tensor> weights;
  std::function<torch::Tensor(const torch::Tensor& x)> forward;
};

// One of two models that are trained side by side, each with its optimizer and its batch.
struct Side {
  const Model& model;
  torch::optim::Optimizer& optimizer;
  const Batch& batch;
};

// What a run keeps besides weights and optimizer: how often the weights changed, and their moving
// average.
struct Progress {
  int64_t updates = 0;
  std::vector<torch::Tensor> average;  // as model.weights

  // To be called after the weights have changed.
  void follow(const Model& model) {
    const at::NoGradGuard no_grad;
    ++updates;
    for (size_t i = 0; i < average.size(); ++i) average[i].lerp_(model.weights[i], 0.25);
  }
};

// The working float32 step that you begin with: right in every line, and in its order.
inline void float32_step(const Model& model, torch::optim::Optimizer& optimizer, const Batch& batch,
                         double max_norm) {
  optimizer.zero_grad();
  const auto loss = torch::mse_loss(model.forward(batch.x), batch.y);
  loss.backward();
  gradlab::amp::clip_grad_norm_(model.weights, max_norm);
  optimizer.step();
}

// ---- yours
//
// Of every task: the device is the CPU and the type of the autocast region float16. Forward and
// loss run inside the region, backward and all the rest outside, and autocast is off again when the
// call returns. The loss is torch::mse_loss. Gradients are clipped to max_norm (L2 norm of all
// gradients of a model together) at their true size, that of the unscaled loss.
// An optimizer whose gradients hold inf or NaN skips: its weights and its own state stay, bit for
// bit. The scaler is updated once a call, also after a skip.
// What is left in the gradients after a call is free, but never counts in the next call.
// REQUIRES: one scaler for all calls of a run; no gradients before the first call; max_norm > 0.
// ENSURES: weights within float16's rounding of forward and backward; scale and growth tracker
// exactly GradScaler's.

// Task 1. float32_step in mixed precision: one step, or one skip.
void mixed_step(const Model& model, torch::optim::Optimizer& optimizer,
                gradlab::amp::GradScaler& scaler, const Batch& batch, double max_norm);

// Task 2. One step from a window of micro-batches: the gradient of the mean of their losses,
// clipped once, and one update of the scaler. inf or NaN in any micro-batch skips the window.
// REQUIRES: at least one micro-batch; the number may differ from call to call.
void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      gradlab::amp::GradScaler& scaler, const std::vector<Batch>& window,
                      double max_norm);

// Task 3. One step of two models that share a scaler. Each has a loss, from its own batch, is
// clipped by itself, and steps or skips whatever the other does.
void two_optimizer_step(const Side& first, const Side& second, gradlab::amp::GradScaler& scaler,
                        double max_norm);

// Task 4. As task 1; after a step that was taken, `schedule` advances once (schedule.step()) and
// `progress` follows. A skipped batch leaves nothing behind but a smaller scale.
// Returns whether the step was taken.
bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer,
                    gradlab::amp::GradScaler& scaler, torch::optim::LRScheduler& schedule,
                    Progress& progress, const Batch& batch, double max_norm);

// What task 5 writes down of a batch.
struct Record {
  double loss;   // unscaled
  double norm;   // of the true gradients, before clipping; of a skip, any number
  double scale;  // that this loss was multiplied by
  bool stepped;  // false for a skip
};

// Task 5. A whole run: trains the model once on each batch, in order, with torch::optim::SGD of
// this learning rate (no momentum) and one GradScaler, both made here, all other options their
// defaults. Returns one record a batch.
std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm);

// One implementation of the lab: the student's, the reference's, or a known mistake's.
struct Impl {
  gradlab::Function<decltype(step_order::mixed_step)> mixed_step{"step_order.1"};
  gradlab::Function<decltype(step_order::accumulated_step)> accumulated_step{"step_order.2"};
  gradlab::Function<decltype(step_order::two_optimizer_step)> two_optimizer_step{"step_order.3"};
  gradlab::Function<decltype(step_order::scheduled_step)> scheduled_step{"step_order.4"};
  gradlab::Function<decltype(step_order::train)> train{"step_order.5"};
};

GRADLAB_CONTRACT(mixed_step, accumulated_step, two_optimizer_step, scheduled_step, train)

}  // namespace step_order
