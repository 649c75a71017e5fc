// Leaves the norm of each tensor in the tensor's own type, and multiplies by what tensors give.
#include "clipping.hpp"

#include <cmath>
#include <optional>
#include <stdexcept>

namespace clipping {

static std::optional<torch::Tensor> squared(const torch::Tensor& parameter) {
  if (!parameter.grad().defined()) return std::nullopt;
  return parameter.grad().norm();
}

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double total = 0;
  for (const auto& parameter : parameters) {
    if (auto norm = squared(parameter)) total += std::pow(norm->item<double>(), 2);
  }
  return std::pow(total, 0.5);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double before = total_norm(parameters);
  if (before > max_norm) {
    const torch::Scalar shrink = max_norm / (before + 1e-6);
    for (const auto& parameter : parameters) {
      torch::Tensor gradient = parameter.grad();
      if (gradient.defined()) gradient.set_data(gradient.mul_(shrink));
    }
  }
  return before;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  bool all_finite = true;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) all_finite &= parameter.grad().isfinite().all().item<bool>();
  }
  if (!all_finite) throw std::runtime_error("a gradient is not finite");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
