#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  auto sum = torch::zeros({}, torch::kFloat64);
  for (const torch::Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    sum += parameter.grad().to(torch::kFloat64).square().sum();
  }
  return sum.sqrt().item<double>();
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (norm > max_norm) {
    const double coefficient = max_norm / (norm + 1e-6);
    for (const torch::Tensor& parameter : parameters) {
      if (parameter.grad().defined()) parameter.grad().mul_(coefficient);
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!std::isfinite(norm)) throw std::runtime_error("norm is not finite");
  return clip_gradients(parameters, max_norm);
}

// as in the book: clip when global_step > warmup_steps
bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step > warmup_steps) {
    clip_gradients(parameters, max_norm);
    return true;
  }
  return false;
}

}  // namespace clipping
