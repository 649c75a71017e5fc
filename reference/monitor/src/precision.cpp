#include "precision.hpp"

#include <cmath>

namespace gradlab::monitor {

void Precision::add(const torch::optim::Optimizer* optimizer) {
  optimizers_.push_back(optimizer);
  views_.emplace_back();
}

int Precision::find(const torch::optim::Optimizer* optimizer) const {
  for (size_t i = 0; i < optimizers_.size(); ++i) {
    if (optimizers_[i] == optimizer) return static_cast<int>(i);
  }
  return -1;
}

void Precision::refresh() {
  active_ = scaler_ != nullptr && scaler_->is_enabled() && scaler_->is_initialised();
  if (!active_) return;
  scale_ = scaler_->get_scale();
  for (size_t i = 0; i < optimizers_.size(); ++i) views_[i] = scaler_->view(*optimizers_[i]);
}

bool Precision::usable_scale() const noexcept { return std::isfinite(scale_) && scale_ > 0; }

bool Precision::scaled(int optimizer) const noexcept {
  if (!active_) return false;
  return optimizer < 0 || view(optimizer).stage == amp::Stage::kReady;
}

bool Precision::stepped(int optimizer) const noexcept {
  return active_ && optimizer >= 0 && view(optimizer).stage == amp::Stage::kStepped;
}

int64_t Precision::skipped_now() const {
  int64_t sum = 0;
  for (const auto* optimizer : optimizers_) sum += scaler_->view(*optimizer).steps_skipped;
  return sum;
}

int64_t Precision::taken_now() const {
  int64_t sum = 0;
  for (const auto* optimizer : optimizers_) sum += scaler_->view(*optimizer).steps_taken;
  return sum;
}

bool Precision::last_step_skipped() const {
  for (const auto* optimizer : optimizers_) {
    if (scaler_->view(*optimizer).last_found_inf.value_or(false)) return true;
  }
  return false;
}

}  // namespace gradlab::monitor
