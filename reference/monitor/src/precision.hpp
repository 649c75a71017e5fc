// What the scaler knows at a check: its scale, and for each optimizer whether its gradients are
// unscaled and whether inf or NaN was found.
#pragma once

#include <vector>

#include "gradlab/amp/grad_scaler.hpp"

namespace gradlab::monitor {

class Precision {
 public:
  explicit Precision(const amp::GradScaler* scaler) : scaler_(scaler) {}

  void add(const torch::optim::Optimizer* optimizer);
  // Its number, or -1.
  int find(const torch::optim::Optimizer* optimizer) const;
  // Reads all of it; before a check.
  void refresh();

  // A scaler that is enabled and has scaled: gradients may be scaled and steps skipped.
  bool active() const noexcept { return active_; }
  double scale() const noexcept { return scale_; }
  bool usable_scale() const noexcept;
  size_t optimizers() const noexcept { return optimizers_.size(); }
  const amp::OptimizerView& view(int optimizer) const {
    return views_[static_cast<size_t>(optimizer)];
  }
  // Whether the gradients of that optimizer (-1: of none that is known) are multiplied by the
  // scale.
  bool scaled(int optimizer) const noexcept;
  bool stepped(int optimizer) const noexcept;
  // How many steps the scaler has skipped or taken by now, of all optimizers; for comparison.
  int64_t skipped_now() const;
  int64_t taken_now() const;
  // Whether the last step of one of them was skipped.
  bool last_step_skipped() const;
  const amp::GradScaler* scaler() const noexcept { return scaler_; }

 private:
  const amp::GradScaler* scaler_;
  std::vector<const torch::optim::Optimizer*> optimizers_;
  std::vector<amp::OptimizerView> views_;
  bool active_ = false;
  double scale_ = 1;
};

}  // namespace gradlab::monitor
