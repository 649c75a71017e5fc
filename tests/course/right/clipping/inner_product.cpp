// The whole of LibTorch's frontend included, and the standard library's numeric algorithms over
// plain vectors; written back by index_put_.
#include <torch/torch.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "clipping.hpp"

namespace clipping {

namespace {

std::vector<double> elements(const torch::Tensor& gradient) {
  const auto flat = gradient.flatten().to(torch::kFloat64).contiguous();
  const double* first = flat.data_ptr<double>();
  return {first, first + flat.numel()};
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  double sum = 0;
  for (const auto& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    const auto values = elements(parameter.grad());
    sum = std::inner_product(values.begin(), values.end(), values.begin(), sum);
  }
  return std::sqrt(sum);
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  using torch::indexing::Ellipsis;
  const double norm = total_norm(parameters);
  if (norm > max_norm) {
    for (const auto& parameter : parameters) {
      auto gradient = parameter.grad();
      if (!gradient.defined()) continue;
      gradient.index_put_({Ellipsis}, gradient * (max_norm / (norm + 1e-6)));
    }
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (std::isnan(norm) || std::isinf(norm)) throw std::runtime_error("the norm is not finite");
  return clip_gradients(parameters, max_norm);
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  const bool warming_up = step < warmup_steps;
  return !warming_up && (clip_gradients(parameters, max_norm), true);
}

}  // namespace clipping
