// unscale_: which gradients, on which devices, and whether inf or NaN was among them.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/optim/optimizer.h>

#include "checks.hpp"
#include "errors.hpp"
#include "gradients.hpp"
#include "gradlab/amp/grad_scaler.hpp"
#include "reported.hpp"
#include "scaler_event.hpp"

namespace gradlab::amp {

void GradScaler::require_initialised(const char* call) const {
  if (!scale_.defined()) throw errors::scale_not_initialised(call);
}

void GradScaler::require_device(const char* argument, const at::Device& device) const {
  if (!options_.device || device.type() == *options_.device) return;
  throw errors::wrong_device(argument, device.str(), c10::DeviceTypeName(*options_.device, true));
}

GradScaler::OptimizerState& GradScaler::state_of(const torch::optim::Optimizer& optimizer) {
  for (OptimizerState& state : optimizers_) {
    if (state.optimizer == &optimizer) return state;
  }
  optimizers_.emplace_back();
  optimizers_.back().optimizer = &optimizer;
  return optimizers_.back();
}

void GradScaler::require_unscalable(const OptimizerState& state) const {
  if (state.stage == Stage::kUnscaled) throw errors::unscale_twice();
  if (state.stage == Stage::kStepped) throw errors::unscale_after_step();
}

void GradScaler::unscale_(torch::optim::Optimizer& optimizer) {
  if (!options_.enabled) return;
  unscale_reported(optimizer);
}

// Checks come before anything is written: where one throws, no gradient and no stage has changed.
void GradScaler::unscale_reported(torch::optim::Optimizer& optimizer) {
  const Reported reported([&] { return scaler_event(Call::kUnscale, *this, &optimizer); });
  require_initialised("unscale_");
  OptimizerState& state = state_of(optimizer);
  require_unscalable(state);
  const at::NoGradGuard no_grad;
  state.found_inf = unscale_gradients(gradients_of(optimizer), inverse_scale());
  state.stage = Stage::kUnscaled;
}

void GradScaler::recheck(torch::optim::Optimizer& optimizer, OptimizerState& state) {
  const at::NoGradGuard no_grad;
  // A product with 1 leaves every bit; found_inf is what counts.
  const auto again = unscale_gradients(gradients_of(optimizer), at::ones_like(scale_));
  for (size_t i = 0; i < again.size(); ++i) {
    if (i < state.found_inf.size()) {
      state.found_inf[i].add_(again[i].to(state.found_inf[i].device()));
    } else {
      state.found_inf.push_back(again[i]);
    }
  }
}

// 1 / scale, taken in double and rounded once, as Python takes it.
at::Tensor GradScaler::inverse_scale() const {
  if (!scale_.is_cpu()) return scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  const double inverse =
      1.0 / static_cast<double>(*static_cast<const float*>(scale_.const_data_ptr()));
  return at::scalar_tensor(checks::to_float(inverse), at::kFloat);
}

std::vector<at::Tensor> GradScaler::unscale_gradients(const std::vector<at::Tensor>& gradients,
                                                      const at::Tensor& inverse) const {
  std::vector<at::Tensor> found_inf;  // one a device
  for_each_group(gradients, [&](at::TensorList group) {
    const at::Device device = group[0].device();
    size_t at = 0;
    while (at < found_inf.size() && found_inf[at].device() != device) ++at;
    if (at == found_inf.size())
      found_inf.push_back(at::zeros({}, inverse.options().device(device)));
    at::_amp_foreach_non_finite_check_and_unscale_(group, found_inf[at],
                                                   inverse.to(device, /*non_blocking=*/true));
  });
  return found_inf;
}

std::vector<at::Tensor> GradScaler::gradients_of(torch::optim::Optimizer& optimizer) {
  Tensors gradients;
  size_t count = 0;
  for (const auto& group : optimizer.param_groups()) count += group.params().size();
  gradients.reserve(count);
  for (size_t g = 0; g < optimizer.param_groups().size(); ++g) {
    const auto& parameters = optimizer.param_groups()[g].params();
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i].grad().defined()) continue;
      gradients.push_back(unscalable(parameters[i], g, i));
    }
  }
  return gradients;
}

// What is unscaled of a parameter's gradient: the gradient, or the values of a sparse one.
at::Tensor GradScaler::unscalable(const at::Tensor& parameter, size_t group, size_t index) const {
  const auto place = [&](size_t at) { return place_of(group, at, parameter); };
  const at::Tensor& gradient = parameter.grad();
  require_device("a gradient", gradient.device());
  const bool half = gradient.scalar_type() == at::kHalf;
  if (half && !options_.allow_float16_gradients) {
    throw errors::float16_gradient(place(index), gradient);
  }
  at::Tensor values = gradient;
  if (gradient.is_sparse()) {
    // Duplicate indices of a float16 gradient can overflow once they are added up.
    if (half && !gradient.is_coalesced()) parameter.mutable_grad() = gradient.coalesce();
    values = parameter.grad()._values();
  }
  check_gradient(values, place, index);
  if (values.is_complex()) throw errors::complex_gradient(place(index), values);
  return values;
}

std::string GradScaler::place_of(size_t group, size_t index, const at::Tensor& parameter) const {
  std::string text =
      "The gradient of parameter " + std::to_string(index) + " of group " + std::to_string(group);
  for (const auto& [name, named] : names_) {
    if (named.is_same(parameter)) return text + " (" + name + ")";
  }
  return text;
}

}  // namespace gradlab::amp
