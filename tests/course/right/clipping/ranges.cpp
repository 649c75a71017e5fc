#include "clipping.hpp"

#include <cmath>
#include <ranges>
#include <stdexcept>

namespace clipping {

namespace {

auto gradients(const std::vector<torch::Tensor>& parameters) {
  return parameters | std::views::transform([](const torch::Tensor& p) { return p.grad(); }) |
         std::views::filter([](const torch::Tensor& g) { return g.defined(); });
}

double square(double x) { return x * x; }

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (double norm : gradients(parameters) | std::views::transform([](const torch::Tensor& g) {
                       return g.to(torch::kFloat64).norm().item<double>();
                     })) {
    sum += square(norm);
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (norm > max_norm) {
    for (torch::Tensor g : gradients(parameters)) g *= max_norm / (norm + 1e-6);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) throw std::runtime_error{"norm must be finite"};
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
