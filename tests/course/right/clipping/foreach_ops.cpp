#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

namespace {
std::vector<at::Tensor> collect(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> grads;
  grads.reserve(parameters.size());
  for (auto& p : parameters) {
    if (p.grad().defined()) grads.push_back(p.grad());
  }
  return grads;
}
}  // namespace

double total_norm(const std::vector<at::Tensor>& parameters) {
  auto grads = collect(parameters);
  if (grads.empty()) return 0;
  return at::stack(at::_foreach_norm(grads)).norm().item<double>();
}

double clip_gradients(const std::vector<at::Tensor>& parameters, double max_norm) {
  auto grads = collect(parameters);
  double norm = total_norm(parameters);
  double coef = max_norm / (norm + 1e-6);
  if (coef < 1.0 && !grads.empty()) at::_foreach_mul_(grads, coef);
  return norm;
}

double clip_gradients_checked(const std::vector<at::Tensor>& parameters, double max_norm) {
  double norm = total_norm(parameters);
  if (std::isfinite(norm)) return clip_gradients(parameters, max_norm);
  throw std::runtime_error("gradients are not finite");
}

bool clip_after_warmup(const std::vector<at::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
