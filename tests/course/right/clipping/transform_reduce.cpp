#include "clipping.hpp"

#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  const auto squares = [](const torch::Tensor& p) -> double {
    const torch::Tensor& g = p.grad();
    return g.defined() ? torch::sum(g * g.to(torch::kDouble), torch::kDouble).item<double>() : 0.0;
  };
  return std::sqrt(
      std::transform_reduce(parameters.begin(), parameters.end(), 0.0, std::plus<>{}, squares));
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const auto norm = total_norm(parameters);
  const auto coefficient = max_norm / (norm + 1e-6);
  if (coefficient >= 1) return norm;
  for (const auto& p : parameters) {
    if (auto g = p.grad(); g.defined()) at::mul_out(g, g, at::scalar_tensor(coefficient, g.options()));
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  switch (std::fpclassify(total_norm(parameters))) {
    case FP_NAN:
      throw std::runtime_error("norm is NaN");
    case FP_INFINITE:
      throw std::runtime_error("norm is infinite");
    default:
      return clip_gradients(parameters, max_norm);
  }
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (warmup_steps > step) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
