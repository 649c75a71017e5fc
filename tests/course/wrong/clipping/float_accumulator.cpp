// Wrong: the sum of squares is kept in a float, and float64 gradients are cast to float32 for it.
// In task 1.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "clipping.hpp"

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  float sum = 0.0f;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    sum += p.grad().detach().to(torch::kFloat).pow(2).sum().item<float>();
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double coefficient = std::min(1.0, max_norm / (norm + 1e-6));
  if (coefficient < 1.0) {
    for (const auto& p : parameters) {
      if (p.grad().defined()) p.grad().detach().mul_(coefficient);
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!std::isfinite(norm)) throw std::runtime_error("gradient norm is not finite");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
