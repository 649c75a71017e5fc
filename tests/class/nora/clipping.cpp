#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0.0;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) {
      sum += parameter.grad().to(torch::kDouble).square().sum().item<double>();
    }
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double coef = max_norm / (norm + 1e-6);
  if (coef < 1.0) {
    for (const auto& parameter : parameters) {
      if (!parameter.grad().defined()) continue;
      parameter.mutable_grad() = parameter.grad() * coef;  // grad() itself is const
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) throw std::runtime_error("NaN or inf gradient");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  const bool clip = step >= warmup_steps;
  if (clip) clip_gradients(parameters, max_norm);
  return clip;
}

}  // namespace clipping
