// Chioma - written with raw data pointers, because that is what we will need for the CUDA part.
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

// Sum of squares of one tensor. contiguous() because of transposed gradients: there numel() elements
// from data_ptr() on are not the elements of the tensor.
static double sum_of_squares(const torch::Tensor& grad) {
  const torch::Tensor dense = grad.contiguous();
  double sum = 0;
  AT_DISPATCH_FLOATING_TYPES_AND2(
      torch::kHalf, torch::kBFloat16, dense.scalar_type(), "sum_of_squares", [&] {
        const scalar_t* x = dense.data_ptr<scalar_t>();
        for (int64_t i = 0; i < dense.numel(); ++i) {
          const double v = static_cast<double>(x[i]);
          sum += v * v;
        }
      });
  return sum;
}

static void multiply(const torch::Tensor& grad, double factor) {
  torch::Tensor dense = grad.contiguous();  // the same memory if it is contiguous already
  AT_DISPATCH_FLOATING_TYPES(dense.scalar_type(), "multiply", [&] {
    scalar_t* x = dense.data_ptr<scalar_t>();
    for (int64_t i = 0; i < dense.numel(); ++i) {
      x[i] = static_cast<scalar_t>(static_cast<double>(x[i]) * factor);
    }
  });
  if (!grad.is_contiguous()) grad.copy_(dense);  // so it was a copy: write it back
}

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const torch::Tensor& p : parameters) {
    if (p.grad().defined()) sum += sum_of_squares(p.grad());
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  // no `if (norm > max_norm)` needed, the coefficient says the same
  const double coef = max_norm / (norm + 1e-6);
  if (coef >= 1) return norm;
  for (const torch::Tensor& p : parameters) {
    if (p.grad().defined()) multiply(p.grad(), coef);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!std::isfinite(norm)) throw std::runtime_error("inf or nan in the gradients");
  return clip_gradients(parameters, max_norm);
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
