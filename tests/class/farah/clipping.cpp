#include "clipping.hpp"

#include <torch/torch.h>

#include <cmath>
#include <stdexcept>

namespace clipping {

namespace {

// Kahan summation: keeps what got lost in the last addition and adds it to the next one.
class CompensatedSum {
 public:
  void add(double value) {
    const double corrected = value - lost_;
    const double next = sum_ + corrected;
    lost_ = (next - sum_) - corrected;
    sum_ = next;
  }
  double value() const { return sum_; }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

void add_squares(CompensatedSum& sum, const torch::Tensor& gradient) {
  torch::NoGradGuard no_grad;
  const auto flat = gradient.to(torch::kFloat64).flatten();
  const auto values = flat.accessor<double, 1>();
  for (int64_t i = 0; i < values.size(0); ++i) sum.add(values[i] * values[i]);
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  CompensatedSum sum;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) add_squares(sum, parameter.grad());
  }
  return std::sqrt(sum.value());
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  constexpr double eps = 1e-6;
  const double norm = total_norm(parameters);
  const double scale = max_norm / (norm + eps);
  if (scale < 1.0) {
    torch::NoGradGuard no_grad;
    for (const auto& parameter : parameters) {
      if (parameter.grad().defined()) parameter.grad().mul_(scale);
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  if (!std::isfinite(total_norm(parameters))) {
    throw std::runtime_error("Refusing to clip: the gradient norm is not finite.");
  }
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  const bool warmup_is_over = step >= warmup_steps;
  if (warmup_is_over) clip_gradients(parameters, max_norm);
  return warmup_is_over;
}

}  // namespace clipping
