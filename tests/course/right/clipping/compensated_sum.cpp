#include "clipping.hpp"

#include <cmath>
#include <stdexcept>

namespace clipping {

struct Kahan {
  double sum = 0, rest = 0;
  void add(double x) {
    const double y = x - rest;
    const double t = sum + y;
    rest = (t - sum) - y;
    sum = t;
  }
};

double total_norm(const std::vector<torch::Tensor>& parameters) {
  Kahan kahan;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    const auto g = p.grad().to(torch::kDouble).contiguous();
    for (int64_t i = 0; i < g.numel(); ++i) {
      const double x = g.data_ptr<double>()[i];
      kahan.add(x * x);
    }
  }
  return std::sqrt(kahan.sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double coefficient = std::min(max_norm / (norm + 1e-6), 1.0);
  for (const auto& p : parameters) {
    torch::Tensor g = p.grad();
    if (g.defined()) g *= coefficient;
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  // An infinite term makes a compensated sum NaN: that is not finite either.
  if (!std::isfinite(total_norm(parameters))) throw std::runtime_error("norm is not finite");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
