// Accessors over one row of elements; halves and bfloat16s widened one by one, by hand.
#include <cmath>
#include <stdexcept>

#include "clipping.hpp"

namespace clipping {

namespace {

float widened(c10::Half half) { return static_cast<float>(half); }
float widened(c10::BFloat16 brain) { return static_cast<float>(brain); }
float widened(float plain) { return plain; }
double widened(double wide) { return wide; }

template <typename T>
double square_sum(const torch::Tensor& gradient) {
  const torch::Tensor row = gradient.reshape({-1});
  const auto at = row.accessor<T, 1>();
  double sum = 0;
  for (int64_t i = 0; i < at.size(0); ++i) {
    const double element = widened(at[i]);
    sum += element * element;
  }
  return sum;
}

double square_sum_of(const torch::Tensor& gradient) {
  const auto type = gradient.scalar_type();
  if (type == torch::kHalf) return square_sum<c10::Half>(gradient);
  if (type == torch::kBFloat16) return square_sum<c10::BFloat16>(gradient);
  if (type == torch::kDouble) return square_sum<double>(gradient);
  return square_sum<float>(gradient);
}

// as_strided makes one row of what lies side by side, so the accessor writes into the gradient.
template <typename T>
bool scaled_in_one_row(const torch::Tensor& gradient, double by) {
  if (!gradient.is_non_overlapping_and_dense()) return false;
  torch::Tensor row = gradient.as_strided({gradient.numel()}, {1});
  auto at = row.accessor<T, 1>();
  for (int64_t i = 0; i < at.size(0); ++i) at[i] = static_cast<T>(at[i] * by);
  return true;
}

void scale(torch::Tensor gradient, double by) {
  const bool done = gradient.scalar_type() == torch::kDouble
                        ? scaled_in_one_row<double>(gradient, by)
                        : scaled_in_one_row<float>(gradient, by);
  if (!done) gradient.mul_(by);
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& parameter : parameters) {
    const torch::Tensor gradient = parameter.grad();
    sum += gradient.defined() ? square_sum_of(gradient) : 0;
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  const double by = max_norm / (norm + 1e-6);
  for (const auto& parameter : parameters) {
    if (by < 1 && parameter.grad().defined()) scale(parameter.grad(), by);
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (!(norm <= std::numeric_limits<double>::max())) throw std::runtime_error("inf or NaN");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (!(step < warmup_steps)) return clip_gradients(parameters, max_norm) >= 0;
  return false;
}

}  // namespace clipping
