// emre
#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

// plain loop, sums in the type T of the loop: float for float gradients, double for double ones
template <typename T>
T squares(const torch::Tensor& grad) {
  torch::Tensor flat = grad.contiguous();
  const T* values = flat.data_ptr<T>();
  T sum = 0;
  for (int64_t i = 0; i < flat.numel(); i++) sum += values[i] * values[i];
  return sum;
}

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (size_t k = 0; k < parameters.size(); k++) {
    torch::Tensor grad = parameters[k].grad();
    if (!grad.defined()) continue;
    if (grad.scalar_type() == torch::kDouble) {
      sum += squares<double>(grad);
    } else {
      sum += squares<float>(grad.to(torch::kFloat));  // half would overflow at 65504
    }
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  double norm = total_norm(parameters);
  double c = max_norm / (norm + 1e-6);
  if (c < 1) {
    for (size_t k = 0; k < parameters.size(); k++) {
      torch::Tensor grad = parameters[k].grad();
      if (grad.defined()) grad *= c;
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  double norm = total_norm(parameters);
  // nan != nan, and inf - inf is nan too
  if (norm - norm != 0) throw std::runtime_error("norm is nan or inf");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step >= warmup_steps) {
    clip_gradients(parameters, max_norm);
    return true;
  } else {
    return false;
  }
}

}  // namespace clipping
