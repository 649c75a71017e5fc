// How a known mistake becomes a whole implementation: one task's function is wrong, the others are
// right. Moves has the parts of a step, so that a mistake reads as an order of them.
#pragma once

#include <string>
#include <vector>

#include "judge/check_names.hpp"
#include "judge/implementations.hpp"
#include "step_order.hpp"

namespace gradlab::step_order_bugs {

using step_order::Batch;
using step_order::Impl;
using step_order::Model;
using step_order::Progress;
using step_order::Record;
using step_order::Side;
using torch::optim::LRScheduler;
using torch::optim::Optimizer;
using Scaler = amp::GradScaler;

using Checks = CheckNames;

inline torch::Tensor loss_of(const Model& model, const Batch& batch,
                             at::ScalarType dtype = torch::kHalf) {
  const amp::AutocastGuard autocast(torch::kCPU, dtype);
  return torch::mse_loss(model.forward(batch.x), batch.y);
}

// As a helper that all tasks share would write it.
inline torch::Tensor float16_loss_of(const Model& model, const Batch& batch) {
  return loss_of(model, batch).to(torch::kHalf);
}

// The checks of task 1 that look at weights after steps that were taken; and all of the task.
inline Checks weights_of_task1() {
  return {"one_step_worked_by_hand", "weights_over_many_steps", "the_limit_is_for_true_gradients",
          "every_group_of_parameters_is_clipped", "the_batch_after_an_overflow_trains"};
}
inline Checks all_of_task1() {
  return weights_of_task1() + Checks{"scale_and_tracker_at_every_step",
                                     "overflow_leaves_weights_and_momentum",
                                     "forward_runs_in_float16", "autocast_ends_before_backward"};
}
// What sees a skip that is none, or the other way round.
inline Checks skips_of_task1() {
  return {"scale_and_tracker_at_every_step", "overflow_leaves_weights_and_momentum",
          "the_batch_after_an_overflow_trains"};
}

// The same of task 2; and what only a limit shows.
inline Checks weights_of_task2() {
  return {"one_window_worked_by_hand", "weights_over_many_windows",
          "a_short_window_counts_its_own_batches", "the_window_is_clipped_as_a_whole",
          "the_window_after_an_overflow_trains"};
}
inline Checks all_of_task2() {
  return weights_of_task2() +
         Checks{"the_scale_moves_once_a_window", "overflow_anywhere_skips_the_window"};
}
inline Checks limits_of_task2() {
  return {"weights_over_many_windows", "the_window_is_clipped_as_a_whole"};
}

// One model at one step.
struct Moves {
  const Model& model;
  Optimizer& optimizer;
  Scaler& scaler;
  double max_norm;

  void zero_grad() const { optimizer.zero_grad(); }
  void scaled_backward(const torch::Tensor& loss) const { scaler.scale(loss).backward(); }
  void unscale() const { scaler.unscale_(optimizer); }
  torch::Tensor clip() const { return amp::clip_grad_norm_(model.weights, max_norm); }
  void clip_values() const {
    for (const auto& weight : model.weights) weight.grad().clamp_(-max_norm, max_norm);
  }
  bool step() const { return scaler.step(optimizer); }
  bool finish() const {
    unscale();
    clip();
    return step();
  }
};

// Tasks 1 and 4.
struct Step : Moves {
  const Batch& batch;

  torch::Tensor loss() const { return loss_of(model, batch); }
  bool right() const {
    zero_grad();
    scaled_backward(loss());
    const bool stepped = finish();
    scaler.update();
    return stepped;
  }
};

// Task 2.
struct Window : Moves {
  const std::vector<Batch>& batches;

  double count() const { return static_cast<double>(batches.size()); }
  torch::Tensor loss(size_t i) const { return loss_of(model, batches[i]); }
  void accumulate() const {
    for (size_t i = 0; i < batches.size(); ++i) scaled_backward(loss(i) / count());
  }
  void right() const {
    zero_grad();
    accumulate();
    finish();
    scaler.update();
  }
};

// Task 3: the moves of one of two models.
inline Moves moves_of(const Side& side, Scaler& scaler, double max_norm) {
  return {side.model, side.optimizer, scaler, max_norm};
}
inline void backward_of(const Side& side, Scaler& scaler) {
  scaler.scale(loss_of(side.model, side.batch)).backward();
}

// From a body to a function of the contract.
template <void (*body)(const Step&)>
void as_mixed(const Model& model, Optimizer& optimizer, Scaler& scaler, const Batch& batch,
              double max_norm) {
  body({{model, optimizer, scaler, max_norm}, batch});
}

template <void (*body)(const Window&)>
void as_accumulated(const Model& model, Optimizer& optimizer, Scaler& scaler,
                    const std::vector<Batch>& window, double max_norm) {
  body({{model, optimizer, scaler, max_norm}, window});
}

template <bool (*body)(const Step&, LRScheduler&, Progress&)>
bool as_scheduled(const Model& model, Optimizer& optimizer, Scaler& scaler, LRScheduler& schedule,
                  Progress& progress, const Batch& batch, double max_norm) {
  return body({{model, optimizer, scaler, max_norm}, batch}, schedule, progress);
}

// All right; and all right but one function.
Impl right();

template <void (*body)(const Step&)>
Impl mixed() {
  Impl impl = right();
  impl.mixed_step = as_mixed<body>;
  return impl;
}

template <void (*body)(const Window&)>
Impl accumulated() {
  Impl impl = right();
  impl.accumulated_step = as_accumulated<body>;
  return impl;
}

template <void (*body)(const Side&, const Side&, Scaler&, double)>
Impl two_optimizer() {
  Impl impl = right();
  impl.two_optimizer_step = body;
  return impl;
}

template <bool (*body)(const Step&, LRScheduler&, Progress&)>
Impl scheduled() {
  Impl impl = right();
  impl.scheduled_step = as_scheduled<body>;
  return impl;
}

template <std::vector<Record> (*body)(const Model&, const std::vector<Batch>&, double, double)>
Impl trained() {
  Impl impl = right();
  impl.train = body;
  return impl;
}

}  // namespace gradlab::step_order_bugs
