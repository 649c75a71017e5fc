// The clipping lab's answer: the clearest correct version, and the yardstick of every check. The
// sum is kept in double, so that it is exact enough for every type; the clip follows LibTorch's
// rule.
#include <cmath>
#include <stdexcept>

#include "clipping.hpp"
#include "judge/implementations.hpp"

namespace {

using Parameters = std::vector<torch::Tensor>;

double total_norm(const Parameters& parameters) {
  double sum = 0;
  for (const auto& parameter : parameters) {
    const auto& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    // Widened before it is squared: the square of 300 is already too large for a half.
    sum += gradient.to(torch::kFloat64).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

double clip_gradients(const Parameters& parameters, double max_norm) {
  constexpr double kEpsilon = 1e-6;
  const double norm = total_norm(parameters);
  const double coefficient = max_norm / (norm + kEpsilon);
  if (coefficient < 1) {
    for (const auto& parameter : parameters) {
      if (parameter.grad().defined()) parameter.grad().mul_(coefficient);
    }
  }
  return norm;
}

double clip_gradients_checked(const Parameters& parameters, double max_norm) {
  // Asked before anything is touched: a clipped gradient cannot be taken back.
  if (!std::isfinite(total_norm(parameters))) {
    throw std::runtime_error("the norm of the gradients is not finite");
  }
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const Parameters& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

clipping::Impl answer() {
  clipping::Impl impl;
  impl.total_norm = total_norm;
  impl.clip_gradients = clip_gradients;
  impl.clip_gradients_checked = clip_gradients_checked;
  impl.clip_after_warmup = clip_after_warmup;
  return impl;
}

[[maybe_unused]] const bool kRegistered = gradlab::set_reference(answer());

}  // namespace
