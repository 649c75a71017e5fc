// Walks over every element by its strides, recursively over the dimensions; no copy anywhere.
#include "clipping.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>

namespace clipping {

namespace {

template <typename T, typename Visit>
void walk(T* at, c10::IntArrayRef sizes, c10::IntArrayRef strides, const Visit& visit) {
  if (sizes.empty()) {
    visit(*at);
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i) {
    walk(at + i * strides[0], sizes.slice(1), strides.slice(1), visit);
  }
}

template <typename Visit>
void visit_elements(const torch::Tensor& g, const Visit& visit) {
  if (g.numel() == 0) return;
  if (g.scalar_type() == torch::kFloat64)
    walk(g.data_ptr<double>(), g.sizes(), g.strides(), visit);
  else if (g.scalar_type() == torch::kFloat32)
    walk(g.data_ptr<float>(), g.sizes(), g.strides(), visit);
  else if (g.scalar_type() == torch::kFloat16)
    walk(g.data_ptr<c10::Half>(), g.sizes(), g.strides(), visit);
  else
    walk(g.data_ptr<c10::BFloat16>(), g.sizes(), g.strides(), visit);
}

}  // namespace

double total_norm(const std::vector<torch::Tensor>& parameters) {
  long double sum = 0;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    visit_elements(p.grad(), [&](const auto& x) {
      sum += static_cast<long double>(static_cast<double>(x)) * static_cast<double>(x);
    });
  }
  return static_cast<double>(std::sqrt(sum));
}

double clip_gradients(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  if (norm <= max_norm) return norm;
  for (const auto& p : parameters) {
    if (!p.grad().defined()) continue;
    visit_elements(p.grad(), [&](auto& x) {
      x = static_cast<std::remove_reference_t<decltype(x)>>(static_cast<double>(x) * max_norm /
                                                           (norm + 1e-6));
    });
  }
  return norm;
}

double clip_gradients_checked(const std::vector<torch::Tensor>& parameters, double max_norm) {
  const double norm = total_norm(parameters);
  return std::isfinite(norm) ? clip_gradients(parameters, max_norm)
                             : throw std::runtime_error("not finite");
}

bool clip_after_warmup(const std::vector<torch::Tensor>& parameters, double max_norm, int64_t step,
                       int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip_gradients(parameters, max_norm);
  return true;
}

}  // namespace clipping
