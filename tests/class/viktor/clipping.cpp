#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& p : parameters) {
    if (p.grad().defined()) sum += p.grad().to(torch::kDouble).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

// Where the elements of one gradient lie. I collect them first, so that the loop that multiplies
// does not have to ask the tensors again.
struct Slice {
  void* data;
  int64_t count;
  bool is_double;
};

static std::vector<Slice> slices_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<Slice> slices;
  for (const auto& p : parameters) {
    const auto& g = p.grad();
    slices.push_back({g.defined() ? g.data_ptr() : nullptr, p.numel(),
                      p.scalar_type() == torch::kDouble});
  }
  return slices;
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double coef = max_norm / (norm + 1e-6);
  if (coef >= 1) return norm;
  for (const Slice& slice : slices_of(parameters)) {
    for (int64_t i = 0; i < slice.count; ++i) {
      if (slice.is_double) {
        static_cast<double*>(slice.data)[i] *= coef;
      } else {
        static_cast<float*>(slice.data)[i] *= coef;
      }
    }
  }
  return norm;
}

// The pointers were fun, but from here on I use mul_: less to type.
static void clip_with_mul(const std::vector<torch::Tensor>& parameters, double norm,
                          double max_norm) {
  const double coef = max_norm / (norm + 1e-6);
  if (coef >= 1) return;
  for (const auto& p : parameters) {
    if (p.grad().defined()) p.grad().mul_(coef);
  }
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!std::isfinite(norm)) throw std::runtime_error("norm is not finite");
  clip_with_mul(parameters, norm, max_norm);
  return norm;
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_with_mul(parameters, total_norm(parameters), max_norm);
  return true;
}

}  // namespace clipping
