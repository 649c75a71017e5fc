// Clips first and puts everything back when it turns out that the norm was not finite.
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  torch::NoGradGuard no_grad;
  torch::Tensor sum = torch::zeros({}, torch::kDouble);
  for (const auto& p : parameters) {
    if (p.grad().defined()) sum = sum + p.grad().to(torch::kDouble).pow(2).sum();
  }
  return sum.sqrt().item<double>();
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  torch::NoGradGuard no_grad;
  const double norm = total_norm(parameters);
  torch::Tensor coefficient = torch::full({}, max_norm / (norm + 1e-6), torch::kDouble);
  coefficient.clamp_(-INFINITY, 1);
  for (const auto& p : parameters) {
    if (p.grad().defined()) p.grad().mul_(coefficient);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  std::vector<torch::Tensor> before;
  for (const auto& p : parameters) {
    before.push_back(p.grad().defined() ? p.grad().clone() : torch::Tensor());
  }
  const double norm = clip_gradients(parameters, max_norm);
  if (std::isfinite(norm)) return norm;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (before[i].defined()) parameters[i].grad().copy_(before[i]);
  }
  throw std::runtime_error("the norm was not finite: nothing was changed");
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
