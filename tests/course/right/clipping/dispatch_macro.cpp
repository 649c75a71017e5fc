// Raw pointers per type, by LibTorch's own dispatch macro; a layout with gaps is copied and copied
// back.
#include "clipping.hpp"

#include <ATen/Dispatch.h>

#include <cmath>
#include <stdexcept>

namespace clipping {

namespace {

double sum_of_squares(const at::Tensor& grad) {
  const at::Tensor g = grad.contiguous();
  double sum = 0;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "squares", [&] {
    const scalar_t* x = g.const_data_ptr<scalar_t>();
    for (int64_t i = 0; i != g.numel(); ++i) {
      const double wide = static_cast<double>(x[i]);
      sum += wide * wide;
    }
  });
  return sum;
}

void scale(at::Tensor grad, double coefficient) {
  at::Tensor g = grad.contiguous();
  AT_DISPATCH_FLOATING_TYPES(g.scalar_type(), "scale", [&] {
    scalar_t* x = g.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i != g.numel(); ++i) x[i] *= static_cast<scalar_t>(coefficient);
  });
  if (!g.is_same(grad)) grad.copy_(g);
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const at::Tensor& p : parameters)
    if (p.grad().defined()) sum += sum_of_squares(p.grad());
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double coefficient = max_norm / (norm + 1e-6);
  for (const at::Tensor& p : parameters)
    if (coefficient < 1 && p.grad().defined()) scale(p.grad(), coefficient);
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) throw std::runtime_error("norm");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
