// As PyTorch does it in Python: the coefficient is a tensor, and the multiplication always happens.
#include "clipping.hpp"

#include <stdexcept>

namespace clipping {

static torch::Tensor norm_tensor(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> norms;
  for (const auto& p : parameters)
    if (p.grad().defined()) norms.push_back(at::linalg_vector_norm(p.grad(), 2));
  if (norms.empty()) return torch::zeros({});
  return at::linalg_vector_norm(at::stack(norms), 2);
}

static torch::Tensor clip(const std::vector<torch::Tensor>& parameters, double max_norm,
                          const torch::Tensor& norm) {
  torch::Tensor coef = ((norm + 1e-6).reciprocal() * max_norm).clamp_max(1.0);
  for (const auto& p : parameters)
    if (p.grad().defined()) p.grad().mul_(coef.to(p.grad().scalar_type()));
  return norm;
}

double total_norm(const std::vector<torch::Tensor>& parameters) {
  return norm_tensor(parameters).item<double>();
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  return clip(parameters, max_norm, norm_tensor(parameters)).item<double>();
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  torch::Tensor norm = norm_tensor(parameters);
  if (norm.isnan().logical_or(norm.isinf()).item<bool>())
    throw std::runtime_error("The total norm of the gradients is non-finite");
  return clip(parameters, max_norm, norm).item<double>();
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip(parameters, max_norm, norm_tensor(parameters));
  return true;
}

}  // namespace clipping
