#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    torch::Tensor v = p.grad().flatten();
    if (v.scalar_type() != torch::kDouble) v = v.to(torch::kFloat);
    sum += v.dot(v).item<double>();
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  double norm = total_norm(parameters);
  if (norm <= max_norm) return norm;
  for (const auto& p : parameters) {
    if (p.grad().defined()) p.grad().copy_(p.grad() * max_norm / (norm + 1e-6));
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  double norm = total_norm(parameters);
  if (!(norm - norm == 0)) throw std::range_error("norm is inf or nan");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step >= warmup_steps) clip_gradients(parameters, max_norm);
  return step >= warmup_steps;
}

}  // namespace clipping
