// Reads through const_data_ptr and writes through mutable_data_ptr; what has gaps goes by a copy.
#include <cmath>
#include <stdexcept>

#include "clipping.hpp"

namespace clipping {

namespace {

template <typename T>
double squares(const T* values, int64_t count) {
  double sum = 0;
  for (const T* at = values; at != values + count; ++at) {
    sum += static_cast<double>(*at) * static_cast<double>(*at);
  }
  return sum;
}

double squares_of(const torch::Tensor& gradient) {
  const torch::Tensor dense = gradient.contiguous();
  switch (dense.scalar_type()) {
    case torch::kFloat32:
      return squares(dense.const_data_ptr<float>(), dense.numel());
    case torch::kFloat64:
      return squares(dense.const_data_ptr<double>(), dense.numel());
    default:
      return squares(dense.to(torch::kFloat32).const_data_ptr<float>(), dense.numel());
  }
}

template <typename T>
void multiply(T* values, int64_t count, double by) {
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(values[i] * by);
}

void shrink(torch::Tensor gradient, double by) {
  if (!gradient.is_contiguous()) {
    torch::Tensor dense = gradient.contiguous();
    shrink(dense, by);
    gradient.copy_(dense);
  } else if (gradient.scalar_type() == torch::kFloat32) {
    multiply(gradient.mutable_data_ptr<float>(), gradient.numel(), by);
  } else {
    multiply(gradient.mutable_data_ptr<double>(), gradient.numel(), by);
  }
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const torch::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) sum += squares_of(parameter.grad());
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double by = max_norm / (norm + 1e-6);
  if (by >= 1) return norm;
  for (const torch::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) shrink(parameter.grad(), by);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!std::isfinite(norm)) throw std::runtime_error("refused: norm " + std::to_string(norm));
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
