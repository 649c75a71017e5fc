#include "clipping.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace clipping {

double total_norm(const std::vector<torch::Tensor>& parameters) {
  return std::sqrt(std::accumulate(
      parameters.cbegin(), parameters.cend(), 0.0, [](double sum, const torch::Tensor& p) {
        return p.grad().defined() ? sum + p.grad().to(torch::kDouble).pow(2).sum().item<double>()
                                  : sum;
      }));
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (const double factor = max_norm / (norm + 1e-6); factor < 1)
    std::for_each(parameters.cbegin(), parameters.cend(), [factor](torch::Tensor p) {
      if (p.grad().defined()) p.mutable_grad().mul_(factor);
    });
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (norm != norm || norm == std::numeric_limits<double>::infinity())
    throw std::runtime_error("bad norm " + std::to_string(norm));
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  const bool over = step - warmup_steps >= 0;
  return over ? (static_cast<void>(clip_gradients(parameters, max_norm)), over) : over;
}

}  // namespace clipping
