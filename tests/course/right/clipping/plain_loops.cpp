#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0.0;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) {
      continue;
    }
    torch::Tensor flat = p.grad().to(torch::kDouble).flatten().contiguous();
    const double* data = flat.data_ptr<double>();
    for (int64_t i = 0; i < flat.numel(); i++) {
      sum += data[i] * data[i];
    }
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  double norm = total_norm(parameters);
  double coef = max_norm / (norm + 1e-6);
  if (coef < 1.0) {
    for (const auto& p : parameters) {
      if (p.grad().defined()) {
        p.grad().mul_(coef);
      }
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) {
    throw std::runtime_error("norm is not finite");
  }
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
