// As LibTorch's C++ frontend does it: norms of tensors, stacked, normed again; one clamp.
#include "clipping.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> norms;
  for (const auto& parameter : parameters) {
    const auto& grad = parameter.grad();
    if (grad.defined()) norms.emplace_back(grad.norm(2.0));
  }
  if (norms.empty()) return 0.0;
  if (norms.size() == 1) return norms[0].item().toDouble();
  return torch::stack(norms).norm(2.0).item().toDouble();
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double clip_coef = std::min(1.0, max_norm / (norm + 1e-6));
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) parameter.grad().data().mul_(clip_coef);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  for (const auto& parameter : parameters) {
    const auto& grad = parameter.grad();
    if (grad.defined() && !grad.isfinite().all().item<bool>()) {
      throw std::overflow_error("a gradient holds inf or NaN");
    }
  }
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  return step >= warmup_steps && (clip_gradients(parameters, max_norm), true);
}

}  // namespace clipping
