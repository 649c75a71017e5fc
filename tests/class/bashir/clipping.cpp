#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& p : parameters) {
    if (p.grad().defined()) sum += p.grad().to(torch::kDouble).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  // repeat until it fits, one division might not be exact
  while (total_norm(parameters) > max_norm) {
    for (const auto& p : parameters) {
      if (p.grad().defined()) p.grad().mul(max_norm / (norm + 1e-6));
    }
  }
  return norm;
}

static void scale_once(const std::vector<torch::Tensor>& parameters, double norm, double max_norm) {
  if (norm <= max_norm) return;
  for (const auto& p : parameters) {
    if (p.grad().defined()) p.grad().mul_(max_norm / (norm + 1e-6));
  }
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!std::isfinite(norm)) throw std::runtime_error("not finite: " + std::to_string(norm));
  scale_once(parameters, norm, max_norm);
  return norm;
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  scale_once(parameters, total_norm(parameters), max_norm);
  return true;
}

}  // namespace clipping
