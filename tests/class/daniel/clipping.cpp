/* Gradient clipping
 * Daniel
 *
 * Idea: the handout says "all gradients taken as one vector", so I really make that vector
 * with torch::cat and let the library take its norm.
 */
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> pieces;
  for (const auto& parameter : parameters) {
    const auto& grad = parameter.grad();
    if (!grad.defined()) continue;
    pieces.push_back(grad.reshape({-1}).to(torch::kDouble));
  }
  if (pieces.empty()) return 0.0;
  return at::linalg_vector_norm(torch::cat(pieces), 2).item<double>();
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (norm > max_norm) {
    for (const auto& parameter : parameters) {
      torch::Tensor grad = parameter.grad();
      if (grad.defined()) grad.mul_(max_norm / (norm + 1e-6));
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!std::isfinite(norm)) {
    throw std::runtime_error("The total norm of the gradients is non-finite, so it cannot be clipped");
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
