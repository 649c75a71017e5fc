// Construction, scale, step and update; the other two files have unscale_ and the state.
#include "gradlab/amp/grad_scaler.hpp"

#include <ATen/ATen.h>
#include <torch/optim/optimizer.h>

#include <cmath>

#include "checks.hpp"
#include "errors.hpp"
#include "reported.hpp"
#include "scaler_event.hpp"

namespace gradlab::amp {

GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), first_scale_(options.init_scale) {
  if (options_.enabled) checks::options(options_);
}

// ---- scale

void GradScaler::initialise(const at::Device& device) {
  if (scale_.defined()) return;
  scale_ = at::full({}, first_scale_, at::TensorOptions(device).dtype(at::kFloat));
  growth_tracker_ = at::full({}, first_tracker_, at::TensorOptions(device).dtype(at::kInt));
}

at::Tensor GradScaler::scale(const at::Tensor& outputs) {
  if (!options_.enabled) return outputs;
  const Reported reported([&] { return scaler_event(Call::kScale, *this, nullptr, outputs); });
  if (!outputs.defined()) throw errors::bad_scale_argument("it was an undefined tensor");
  require_device("outputs", outputs.device());
  initialise(outputs.device());
  return outputs * scale_.to(outputs.device(), /*non_blocking=*/true);
}

std::vector<at::Tensor> GradScaler::scale(at::TensorList outputs) {
  if (!options_.enabled) return outputs.vec();
  const Reported reported([&] { return scaler_event(Call::kScale, *this, nullptr, outputs); });
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) {
      throw errors::bad_scale_argument("entry " + std::to_string(i) + " was an undefined tensor");
    }
    require_device("outputs", outputs[i].device());
  }
  std::vector<at::Tensor> scaled;
  scaled.reserve(outputs.size());
  for (const at::Tensor& output : outputs) {
    initialise(output.device());
    scaled.push_back(output * scale_.to(output.device(), /*non_blocking=*/true));
  }
  return scaled;
}

// ---- step

bool GradScaler::any_found(const OptimizerState& state) const {
  at::Tensor sum = state.found_inf[0];
  for (size_t i = 1; i < state.found_inf.size(); ++i) {
    sum = sum + state.found_inf[i].to(sum.device(), /*non_blocking=*/true);
  }
  return sum.item<float>() != 0;
}

bool GradScaler::step(torch::optim::Optimizer& optimizer) {
  const auto event = [&] { return scaler_event(Call::kStep, *this, &optimizer); };
  Reported reported(event);
  if (!options_.enabled) {
    optimizer.step();
    reported.stepped(true);
    return true;
  }
  require_initialised("step");
  OptimizerState& state = state_of(optimizer);
  if (state.stage == Stage::kStepped) throw errors::step_twice();
  if (state.stage == Stage::kReady) {
    unscale_reported(optimizer);
  } else if (options_.recheck_after_unscale) {
    recheck(optimizer, state);
  }
  if (state.found_inf.empty()) throw errors::no_inf_checks_for_optimizer();
  const bool skip = any_found(state);
  if (!skip) optimizer.step();
  ++(skip ? state.steps_skipped : state.steps_taken);
  state.last_found_inf = state.found_inf;
  state.stage = Stage::kStepped;
  reported.stepped(!skip);
  return !skip;
}

bool GradScaler::step(torch::optim::Optimizer& optimizer,
                      const std::function<at::Tensor()>& closure) {
  Reported reported([&] { return scaler_event(Call::kStep, *this, &optimizer); });
  if (options_.enabled) throw errors::closure_not_supported();
  optimizer.step(closure);
  reported.stepped(true);
  return true;
}

// ---- update

void GradScaler::update() {
  if (!options_.enabled) return;
  const Reported reported([&] { return scaler_event(Call::kUpdate, *this); });
  require_initialised("update");
  const at::Tensor found_inf = combined_found_inf();
  if (!found_inf.defined()) throw errors::no_inf_checks_before_update();
  const bool watched = options_.min_scale || options_.max_skips_in_a_row;
  const double before = watched ? get_scale() : 0;
  const bool overflowed = watched && found_inf.item<float>() != 0;
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf, options_.growth_factor,
                         options_.backoff_factor, options_.growth_interval);
  finish_iteration();
  if (watched) watch_floor_and_skips(overflowed, before);
}

void GradScaler::update(double new_scale) {
  if (!options_.enabled) return;
  const Reported reported([&] { return scaler_event(Call::kUpdate, *this); });
  require_initialised("update");
  if (options_.strict) checks::new_scale(new_scale);
  scale_.fill_(checks::to_float(new_scale));
  finish_iteration();
}

void GradScaler::update(const at::Tensor& new_scale) {
  if (!options_.enabled) return;
  const Reported reported([&] { return scaler_event(Call::kUpdate, *this); });
  require_initialised("update");
  if (!new_scale.defined() || new_scale.numel() != 1 || new_scale.requires_grad() ||
      new_scale.device().type() != scale_.device().type()) {
    throw errors::bad_new_scale(new_scale);
  }
  if (new_scale.dim() != 0) throw errors::new_scale_shape(new_scale);
  if (options_.strict) checks::new_scale(new_scale.item<double>());
  scale_.copy_(new_scale);
  finish_iteration();
}

// The found_inf of all optimizers and devices added up on the scale's device; undefined for none.
at::Tensor GradScaler::combined_found_inf() const {
  at::Tensor sum;
  for (const OptimizerState& state : optimizers_) {
    for (const at::Tensor& found_inf : state.found_inf) {
      const at::Tensor here = found_inf.to(scale_.device(), /*non_blocking=*/true);
      sum = sum.defined() ? sum + here : here;
    }
  }
  return sum;
}

void GradScaler::finish_iteration() {
  for (OptimizerState& state : optimizers_) {
    state.stage = Stage::kReady;
    state.found_inf.clear();
  }
}

void GradScaler::watch_floor_and_skips(bool overflowed, double scale_before) {
  overflows_in_a_row_ = overflowed ? overflows_in_a_row_ + 1 : 0;
  const double floor = options_.min_scale.value_or(0);
  if (options_.min_scale && get_scale() < floor) scale_.fill_(floor);
  if (!overflowed) return;
  if (options_.min_scale && scale_before <= floor) throw errors::scale_at_minimum(floor);
  if (options_.max_skips_in_a_row && overflows_in_a_row_ >= *options_.max_skips_in_a_row) {
    throw errors::too_many_skips(overflows_in_a_row_, get_scale());
  }
}

}  // namespace gradlab::amp
