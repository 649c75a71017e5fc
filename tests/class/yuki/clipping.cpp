#include "clipping.hpp"

#include <cmath>
#include <iostream>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    const torch::Tensor flat = p.grad().to(torch::kDouble).flatten();
    const auto values = flat.accessor<double, 1>();
    for (int64_t i = 0; i < values.size(0); i++) {
      std::cout << "element " << i << " = " << values[i] << std::endl;  // debug
      sum += values[i] * values[i];
    }
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  std::cout << "norm before = " << norm << std::endl;
  const double coef = max_norm / (norm + 1e-6);
  if (coef < 1) {
    for (const auto& p : parameters) {
      if (p.grad().defined()) p.grad().mul_(coef);
    }
  }
  return norm;
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
