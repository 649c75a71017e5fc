// Kenji. Each layer gets clipped so that no layer has a norm bigger than max_norm.
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double total = 0.0;
  for (const auto& w : parameters) {
    if (w.grad().defined()) {
      const double n = w.grad().to(torch::kFloat64).norm().item<double>();
      total += n * n;
    }
  }
  return std::sqrt(total);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double before = total_norm(parameters);
  for (const auto& w : parameters) {
    if (!w.grad().defined()) continue;
    const double n = w.grad().to(torch::kFloat64).norm().item<double>();
    const double coef = max_norm / (n + 1e-6);
    if (coef < 1.0) w.grad().mul_(coef);
  }
  return before;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) throw std::runtime_error("norm not finite");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step >= warmup_steps) {
    clip_gradients(parameters, max_norm);
    return true;
  }
  return false;
}

}  // namespace clipping
