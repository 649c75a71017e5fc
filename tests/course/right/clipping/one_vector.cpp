// Takes "one vector" at its word: everything flattened and concatenated.
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

torch::Tensor as_one_vector(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> flat{torch::zeros({0}, torch::kDouble)};
  for (const auto& p : parameters) {
    if (p.grad().defined()) flat.push_back(p.grad().reshape(-1).to(torch::kDouble));
  }
  return torch::cat(flat);
}

double total_norm(const std::vector<torch::Tensor>& parameters) {
  return as_one_vector(parameters).norm().item<double>();
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  torch::Tensor vector = as_one_vector(parameters);
  const double norm = vector.norm().item<double>();
  if (!(norm > max_norm)) return norm;
  vector.mul_(max_norm / (norm + 1e-6));
  int64_t at = 0;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    const int64_t count = p.grad().numel();
    p.grad().copy_(vector.slice(0, at, at + count).view(p.grad().sizes()));
    at += count;
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!as_one_vector(parameters).isfinite().all().item<bool>()) {
    throw std::runtime_error("the gradient holds inf or NaN");
  }
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
