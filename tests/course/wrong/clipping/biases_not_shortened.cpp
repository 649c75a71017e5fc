// Wrong: gradients of fewer than two dimensions count in the norm but are not shortened, as weight
// decay leaves out biases (strange).
// In task 2 (and by its helper tasks 3 and 4).
#include <cmath>
#include <stdexcept>

#include "clipping.hpp"

namespace clipping {

namespace {

void shrink(const std::vector<torch::Tensor>& parameters, double norm, double max_norm) {
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return;
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters.size(); i++) {
    torch::Tensor g = parameters[i].grad();
    if (!g.defined()) continue;
    if (g.dim() < 2) continue;  // biases and norms are left alone, as in weight decay
    g.mul_(factor);
  }
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> norms;
  for (size_t i = 0; i < parameters.size(); i++) {
    torch::Tensor g = parameters[i].grad();
    if (g.defined()) norms.push_back(g.to(torch::kDouble).norm());
  }
  if (norms.empty()) return 0.0;
  return torch::stack(norms).norm().item<double>();
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  shrink(parameters, norm, max_norm);
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!std::isfinite(norm)) {
    throw std::runtime_error("clip_gradients_checked: inf or NaN in the gradients");
  }
  shrink(parameters, norm, max_norm);
  return norm;
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
