// Divides by (norm + eps) / max_norm instead of multiplying. For a limit of 0 that divides by inf.
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double norm = 0;
  for (auto&& p : parameters) {
    if (p.grad().defined()) norm = std::hypot(norm, p.grad().to(at::kDouble).norm().item<double>());
  }
  return norm;
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double divisor = (norm + 1e-6) / max_norm;
  for (auto&& p : parameters) {
    if (divisor > 1 && p.grad().defined()) p.grad().div_(divisor);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (std::isnan(norm)) throw std::runtime_error("NaN");
  if (std::isinf(norm)) throw std::runtime_error("inf");
  clip_gradients(parameters, max_norm);
  return norm;
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  while (step >= warmup_steps) {
    clip_gradients(parameters, max_norm);
    return true;
  }
  return false;
}

}  // namespace clipping
