#include "gradlab/amp/clip.hpp"

#include <ATen/core/grad_mode.h>
#include <torch/optim/optimizer.h>

#include <cmath>

#include "clip_event.hpp"
#include "dense_pass.hpp"
#include "errors.hpp"
#include "norms.hpp"
#include "reported.hpp"

namespace gradlab::amp {
namespace {

std::string place_in_list(size_t index) { return "gradient " + std::to_string(index); }

void require_finite(const at::Tensor& norm, double norm_type) {
  if (!std::isfinite(norm.item<double>())) throw errors::nonfinite_norm(norm_type);
}

// What ClipOptions::strict refuses.
void check_strictly(at::TensorList parameters, size_t gradients, double max_norm) {
  if (std::isnan(max_norm) || max_norm < 0) throw errors::bad_max_norm(max_norm);
  if (gradients == 0) throw errors::no_gradients("clip_grad_norm_");
  for (size_t i = 0; i < parameters.size(); ++i) {
    for (size_t before = 0; before < i; ++before) {
      if (!parameters[i].is_same(parameters[before])) continue;
      throw errors::repeated_tensor("parameter " + std::to_string(i), before);
    }
  }
}

}  // namespace

at::Tensor get_total_norm(at::TensorList gradients, double norm_type, bool error_if_nonfinite) {
  Reported reported([&] { return clip_event(Call::kGetTotalNorm, gradients); });
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < gradients.size(); ++i) check_gradient(gradients[i], place_in_list, i);
  check_norm_type(gradients, norm_type);
  at::Tensor norm = reported.total_norm(total_norm_of(gradients, norm_type));
  if (error_if_nonfinite && !gradients.empty()) require_finite(norm, norm_type);
  return norm;
}

void clip_grads_with_norm_(at::TensorList parameters, double max_norm,
                           const at::Tensor& total_norm) {
  Reported reported(
      [&] { return clip_event(Call::kClipGradsWithNorm, parameters, max_norm, total_norm); });
  const at::NoGradGuard no_grad;
  if (!total_norm.defined() || total_norm.numel() != 1 ||
      !at::isFloatingType(total_norm.scalar_type())) {
    throw errors::bad_total_norm(total_norm);
  }
  multiply_by_coefficient(checked_gradients_of(parameters), max_norm, total_norm.reshape({}));
}

at::Tensor clip_grad_norm_(at::TensorList parameters, double max_norm, const ClipOptions& options) {
  Reported reported([&] { return clip_event(Call::kClipGradNorm, parameters, max_norm); });
  const at::NoGradGuard no_grad;
  const Tensors gradients = checked_gradients_of(parameters);
  check_norm_type(gradients, options.norm_type);
  if (options.strict) check_strictly(parameters, gradients.size(), max_norm);
  std::optional<DensePass> pass;
  if (options.fused && options.norm_type == 2) pass = DensePass::over(gradients);
  double measured = 0;
  at::Tensor norm;
  {
    Reported part([&] { return clip_event(Call::kGetTotalNorm, gradients); });
    if (pass) measured = pass->measure().norm;
    norm = part.total_norm(pass ? pass->as_norm(measured)
                                : total_norm_of(gradients, options.norm_type));
    if (options.error_if_nonfinite) require_finite(norm, options.norm_type);
  }
  const Reported part(
      [&] { return clip_event(Call::kClipGradsWithNorm, parameters, max_norm, norm); });
  if (pass) {
    pass->multiply(clip_coefficient(measured, max_norm));
  } else {
    multiply_by_coefficient(gradients, max_norm, norm);
  }
  return reported.total_norm(norm);
}

at::Tensor clip_grad_norm_(at::TensorList parameters, double max_norm, double norm_type,
                           bool error_if_nonfinite) {
  ClipOptions options;
  options.norm_type = norm_type;
  options.error_if_nonfinite = error_if_nonfinite;
  return clip_grad_norm_(parameters, max_norm, options);
}

void clip_grad_value_(at::TensorList parameters, double clip_value) {
  Reported reported([&] { return clip_event(Call::kClipGradValue, parameters, clip_value); });
  const at::NoGradGuard no_grad;
  const Tensors gradients = checked_gradients_of(parameters);
  if (gradients.empty()) throw errors::no_gradients("clip_grad_value_");
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].is_complex()) throw errors::complex_gradient(place_in_list(i), gradients[i]);
  }
  for (const at::Tensor& gradient : gradients) gradient.clamp_(-clip_value, clip_value);
}

std::vector<at::Tensor> parameters_of(const torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (const auto& group : optimizer.param_groups()) {
    all.insert(all.end(), group.params().begin(), group.params().end());
  }
  return all;
}

}  // namespace gradlab::amp
