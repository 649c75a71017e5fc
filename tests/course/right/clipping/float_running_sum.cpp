// Sums in the gradient's own precision, one element after the other; half is widened to float.
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

namespace {

template <typename Scalar>
Scalar running_sum(const torch::Tensor& grad) {
  const torch::Tensor g = grad.contiguous();
  Scalar sum = 0;
  for (int64_t i = 0; i < g.numel(); ++i) {
    const Scalar x = g.data_ptr<Scalar>()[i];
    sum += x * x;
  }
  return sum;
}

template <typename Scalar>
void scale(torch::Tensor grad, double max_norm, double norm) {
  const Scalar c = static_cast<Scalar>(max_norm) / (static_cast<Scalar>(norm) + Scalar(1e-6));
  if (c < 1) grad.mul_(c);
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  float floats = 0;
  double doubles = 0;
  for (const torch::Tensor& p : parameters) {
    if (!p.grad().defined()) continue;
    if (p.grad().scalar_type() == torch::kDouble)
      doubles += running_sum<double>(p.grad());
    else
      floats += running_sum<float>(p.grad().to(torch::kFloat));
  }
  return doubles == 0 ? std::sqrt(floats) : std::sqrt(doubles + floats);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  for (const torch::Tensor& p : parameters) {
    if (!p.grad().defined()) continue;
    if (p.grad().scalar_type() == torch::kDouble)
      scale<double>(p.grad(), max_norm, norm);
    else
      scale<float>(p.grad(), max_norm, norm);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (std::isnan(norm) || std::isinf(norm)) throw std::runtime_error("non-finite gradient norm");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  const bool active = !(step < warmup_steps);
  if (active) clip_gradients(parameters, max_norm);
  return active;
}

}  // namespace clipping
