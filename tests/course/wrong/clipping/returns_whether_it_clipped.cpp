// Wrong: returns whether the gradients were shortened, not whether the warm-up is over.
// In task 4.
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
    if (g.defined()) g.mul_(factor);
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
  if (step < warmup_steps) return false;
  return clip_gradients(parameters, max_norm) > max_norm;
}

}  // namespace clipping
