// How a known mistake becomes a whole implementation: a wrong pass or a wrong step is carried into
// what is built on it, as by a student who calls the earlier function; everything else is right.
#pragma once

#include <ATen/autocast_mode.h>

#include <functional>
#include <string>
#include <vector>

#include "autocast.hpp"
#include "judge/check_names.hpp"
#include "judge/implementations.hpp"

namespace gradlab::autocast_bugs {

namespace state = at::autocast;

using ::autocast::Batch;
using ::autocast::Impl;
using ::autocast::Model;
using ::autocast::Pass;
using Dtype = torch::ScalarType;
using Op = std::function<torch::Tensor(const torch::Tensor&)>;
using Optimizer = torch::optim::Optimizer;
using GetPass = Pass (*)(const Model&, const Batch&, Dtype);
using Step = double (*)(const Model&, const Batch&, Dtype, Optimizer&);
using Train = std::vector<double> (*)(const Model&, const std::vector<Batch>&, Dtype, Optimizer&);
using Island = torch::Tensor (*)(const Op&, const torch::Tensor&);
using ScaledStep = double (*)(const Model&, const Batch&, Dtype, Optimizer&, double);

using Checks = CheckNames;

// What another state behind a call fails, and another state behind an exception.
inline Checks state_behind() {
  return {"the_state_is_left_as_found", "the_state_after_a_step", "the_state_after_training"};
}
inline Checks state_behind_an_exception() {
  return {"a_model_that_throws_leaves_the_state", "a_step_that_throws_changes_nothing"};
}

// What a model that runs outside its region fails.
inline Checks region_of_the_model() {
  return {"the_model_runs_in_the_region", "forward_runs_in_the_region",
          "every_backward_runs_outside"};
}

// What old copies of weights fail.
inline Checks stale_copies() {
  return {"each_step_sees_the_new_weight", "each_step_sees_the_new_bias", "a_run_of_several_layers",
          "the_callers_next_forward_sees_the_weights"};
}

// What a wrong update of the weights fails.
inline Checks updates() {
  return Checks{"one_step_by_hand", "a_step_of_several_layers", "old_gradients_do_not_count",
                "bfloat16_is_not_scaled"} +
         stale_copies();
}

// Runs its function at the end of the scope.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> body) : body_(std::move(body)) {}
  ~AtEnd() { body_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> body_;
};

// A right region, of which a mistake leaves out a part.
struct Parts {
  bool set_dtype = true;
  bool clear_first = true;
  bool clear_last = true;
  bool restore_enabled = true;
  bool restore_dtype = true;
  bool decrement = true;
};

class Region {
 public:
  explicit Region(Dtype dtype, bool enabled = true, Parts parts = {})
      : parts_(parts),
        enabled_(state::is_autocast_enabled(at::kCPU)),
        dtype_(state::get_autocast_dtype(at::kCPU)) {
    state::increment_nesting();
    if (parts_.clear_first) state::clear_cache();
    state::set_autocast_enabled(at::kCPU, enabled);
    if (parts_.set_dtype) state::set_autocast_dtype(at::kCPU, dtype);
  }
  ~Region() {
    if (parts_.restore_enabled) state::set_autocast_enabled(at::kCPU, enabled_);
    if (parts_.restore_dtype) state::set_autocast_dtype(at::kCPU, dtype_);
    if (parts_.clear_last) state::clear_cache();
    if (parts_.decrement) state::decrement_nesting();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  Parts parts_;
  bool enabled_;
  Dtype dtype_;
};

inline Pass pass_of(const Model& model, const Batch& batch) {
  const auto output = model.forward(batch.x);
  return {output, torch::mse_loss(output, batch.y)};
}

inline Pass right_pass(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype);
  return pass_of(model, batch);
}

template <GetPass pass>
double step_by(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer) {
  optimizer.zero_grad();
  const auto loss = pass(model, batch, dtype).loss;
  loss.backward();
  optimizer.step();
  return loss.template item<double>();
}

template <Step step>
std::vector<double> train_by(const Model& model, const std::vector<Batch>& batches, Dtype dtype,
                             Optimizer& optimizer) {
  std::vector<double> losses;
  for (const auto& batch : batches) losses.push_back(step(model, batch, dtype, optimizer));
  return losses;
}

inline void divide_gradients(const Model& model, double by) {
  for (const auto& parameter : model.parameters) {
    if (parameter.grad().defined()) parameter.grad().div_(by);
  }
}

template <GetPass pass, Step step>
double scaled_by(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer,
                 double scale) {
  if (dtype != torch::kHalf) return step(model, batch, dtype, optimizer);
  optimizer.zero_grad();
  const auto loss = pass(model, batch, dtype).loss;
  (loss * scale).backward();
  divide_gradients(model, scale);
  optimizer.step();
  return loss.template item<double>();
}

inline torch::Tensor right_island(const Op& op, const torch::Tensor& input) {
  const Region island(torch::kBFloat16, false);
  return op(input.to(torch::kFloat32));
}

// Task 1: everything built on this pass.
template <GetPass pass, Step step = step_by<pass>>
Impl built_on() {
  Impl impl;
  impl.forward_and_loss = pass;
  impl.training_step = step;
  impl.train = train_by<step>;
  impl.in_float32 = right_island;
  impl.scaled_training_step = scaled_by<pass, step>;
  return impl;
}

// Task 2: a right pass, and this step.
template <Step step>
Impl built_on_step() {
  return built_on<right_pass, step>();
}

// Tasks 3 to 5: nothing is built on them.
inline Impl right() { return built_on<right_pass>(); }

inline Impl with_train(Train train) {
  Impl impl = right();
  impl.train = train;
  return impl;
}

inline Impl with_island(Island island) {
  Impl impl = right();
  impl.in_float32 = island;
  return impl;
}

inline Impl with_scaled(ScaledStep scaled) {
  Impl impl = right();
  impl.scaled_training_step = scaled;
  return impl;
}

}  // namespace gradlab::autocast_bugs
