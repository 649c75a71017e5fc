// The norm as BLAS takes it: relative to the largest element, so that no square overflows.
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double largest = 0;
  for (const auto& p : parameters) {
    if (!p.grad().defined() || p.grad().numel() == 0) continue;
    const double m = p.grad().abs().max().item<double>();
    if (!std::isfinite(m)) return m;  // max() gives NaN where there is one
    largest = std::max(largest, m);
  }
  if (largest == 0) return 0;
  double sum = 0;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    sum += (p.grad().to(torch::kDouble) / largest).square().sum().item<double>();
  }
  return largest * std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double coefficient = max_norm / (norm + 1e-6);
  if (coefficient < 1) {
    for (const auto& p : parameters) {
      if (p.grad().defined()) p.grad().copy_(p.grad().mul(coefficient));
    }
  }
  return norm;
}

namespace {
struct NonFiniteNorm : std::runtime_error {
  NonFiniteNorm() : std::runtime_error("gradient norm is inf or NaN") {}
};
}  // namespace

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) throw NonFiniteNorm();
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
