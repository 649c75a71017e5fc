// LibTorch's own helper that lays tensors out in one vector, on gradients instead of parameters.
#include <torch/nn/utils/convert_parameters.h>

#include <cmath>
#include <stdexcept>

#include "clipping.hpp"

namespace clipping {

namespace {

std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

double length(const std::vector<torch::Tensor>& gradients) {
  std::vector<torch::Tensor> wide;
  for (const auto& gradient : gradients) {
    wide.push_back(gradient.to(torch::kFloat64).contiguous());
  }
  if (wide.empty()) return 0;
  return torch::nn::utils::parameters_to_vector(wide).norm().item<double>();
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  return length(gradients_of(parameters));
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const auto gradients = gradients_of(parameters);
  const double norm = length(gradients);
  const double ratio = max_norm / (norm + 1e-6);
  for (auto gradient : gradients) gradient *= ratio < 1 ? ratio : 1.0;
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) try {
  if (!std::isfinite(total_norm(parameters))) throw std::invalid_argument("not finite");
  return clip_gradients(parameters, max_norm);
} catch (const std::invalid_argument& bad) {
  throw std::runtime_error(bad.what());
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step >= warmup_steps) return static_cast<void>(clip_gradients(parameters, max_norm)), true;
  return false;
}

}  // namespace clipping
