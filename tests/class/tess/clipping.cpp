#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    torch::Tensor flat = p.grad().to(torch::kDouble).flatten();
    for (int64_t i = 0; i < flat.size(); ++i) {
      const double x = flat[i].item<double>();
      sum += x * x;
    }
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (norm > max_norm) {
    for (const auto& p : parameters) {
      if (p.grad().defined()) p.grad().mul_(max_norm / (norm + 1e-6));
    }
  }
  return norm
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) throw std::runtime_error("not finite");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
