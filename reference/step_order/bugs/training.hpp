// What the mistakes in train are made of.
#pragma once

#include <optional>

#include "common.hpp"

namespace gradlab::step_order_bugs {

// A run whose parts can be looked at: one batch is trained, and its record comes back.
class Training {
 public:
  Training(const Model& model, double lr, double max_norm, double init_scale = 65536,
           double momentum = 0)
      : model_(model),
        max_norm_(max_norm),
        optimizer_(model.weights, torch::optim::SGDOptions(lr).momentum(momentum)) {
    amp::GradScalerOptions options;
    options.init_scale = init_scale;
    scaler_.emplace(options);
  }

  Scaler& scaler() { return *scaler_; }
  torch::optim::SGD& optimizer() { return optimizer_; }
  void renew_scaler() { scaler_.emplace(); }

  Record on(const Batch& batch) {
    optimizer_.zero_grad();
    return without_zeroing(batch);
  }

  Record without_zeroing(const Batch& batch) { return from(loss_of(model_, batch)); }

  Record from(const torch::Tensor& loss) {
    scaler_->scale(loss).backward();
    const double scale = scaler_->get_scale();
    scaler_->unscale_(optimizer_);
    const double norm = amp::clip_grad_norm_(model_.weights, max_norm_).item<double>();
    const bool stepped = scaler_->step(optimizer_);
    scaler_->update();
    return {loss.item<double>(), norm, scale, stepped};
  }

 private:
  const Model& model_;
  double max_norm_;
  torch::optim::SGD optimizer_;
  std::optional<Scaler> scaler_;
};

using Batches = std::vector<Batch>;
using Records = std::vector<Record>;

// A right run, but that `change` is made to each record: change(record, training, batch).
template <typename Change>
Records changed(const Model& model, const Batches& batches, double lr, double max_norm,
                Change change) {
  Training training(model, lr, max_norm);
  Records records;
  for (const auto& batch : batches) {
    records.push_back(training.on(batch));
    change(records.back(), training, batch);
  }
  return records;
}

// The checks of the golden run, and of drawn ones.
inline Checks golden() {
  return {"golden_run_finds_its_scale", "golden_run_losses", "golden_run_norms"};
}

inline Checks drawn() { return {"other_runs", "an_overflow_later_in_the_run"}; }

}  // namespace gradlab::step_order_bugs
