// A scaler's numbers: getters, setters, state, and the view for tools.
#include <ATen/ATen.h>

#include "checks.hpp"
#include "errors.hpp"
#include "gradlab/amp/grad_scaler.hpp"

namespace gradlab::amp {
namespace {

std::optional<bool> found(const std::vector<at::Tensor>& found_inf) {
  if (found_inf.empty()) return std::nullopt;
  for (const at::Tensor& one : found_inf) {
    if (one.item<float>() != 0) return true;
  }
  return false;
}

}  // namespace

double GradScaler::get_scale() const {
  if (!options_.enabled) return 1.0;
  return scale_.defined() ? static_cast<double>(scale_.item<float>()) : first_scale_;
}

int64_t GradScaler::growth_tracker() const {
  if (!options_.enabled) return 0;
  return growth_tracker_.defined() ? growth_tracker_.item<int32_t>() : first_tracker_;
}

void GradScaler::set_growth_factor(double value) {
  checks::growth_factor(value);
  options_.growth_factor = value;
}

void GradScaler::set_backoff_factor(double value) {
  checks::backoff_factor(value);
  options_.backoff_factor = value;
}

void GradScaler::set_growth_interval(int64_t value) {
  checks::growth_interval(value);
  options_.growth_interval = value;
}

std::optional<GradScalerState> GradScaler::state() const {
  if (!options_.enabled) return std::nullopt;
  GradScalerState state;
  state.scale = get_scale();
  state.growth_factor = options_.growth_factor;
  state.backoff_factor = options_.backoff_factor;
  state.growth_interval = options_.growth_interval;
  state.growth_tracker = growth_tracker();
  return state;
}

void GradScaler::load_state(const std::optional<GradScalerState>& state) {
  if (!options_.enabled) return;
  if (!state) throw errors::empty_state();
  checks::state(*state);
  options_.growth_factor = state->growth_factor;
  options_.backoff_factor = state->backoff_factor;
  options_.growth_interval = state->growth_interval;
  first_scale_ = state->scale;
  first_tracker_ = state->growth_tracker;
  if (!scale_.defined()) return;
  scale_.fill_(checks::to_float(state->scale));
  growth_tracker_.fill_(state->growth_tracker);
}

const GradScaler::OptimizerState* GradScaler::find(const torch::optim::Optimizer& optimizer) const {
  for (const OptimizerState& state : optimizers_) {
    if (state.optimizer == &optimizer) return &state;
  }
  return nullptr;
}

OptimizerView GradScaler::view(const torch::optim::Optimizer& optimizer) const {
  OptimizerView view;
  const OptimizerState* state = find(optimizer);
  if (state == nullptr) return view;
  view.stage = state->stage;
  view.found_inf = found(state->found_inf);
  view.last_found_inf = found(state->last_found_inf);
  view.steps_taken = state->steps_taken;
  view.steps_skipped = state->steps_skipped;
  return view;
}

int64_t GradScaler::steps_skipped() const noexcept {
  int64_t skipped = 0;
  for (const OptimizerState& state : optimizers_) skipped += state.steps_skipped;
  return skipped;
}

}  // namespace gradlab::amp
