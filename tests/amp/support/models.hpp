// Small things that several tests build.
#pragma once

#include <torch/types.h>

#include <limits>
#include <vector>

namespace amp_test {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A leaf of zeros that has `gradient`.
inline torch::Tensor with_gradient(const torch::Tensor& gradient) {
  auto parameter = torch::zeros(gradient.sizes(), gradient.options());
  parameter.mutable_grad() = gradient;
  return parameter;
}

inline torch::Tensor with_gradient(const std::vector<double>& values,
                                   torch::ScalarType type = torch::kFloat) {
  return with_gradient(torch::tensor(values, torch::kDouble).to(type));
}

inline std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : parameters) gradients.push_back(parameter.grad());
  return gradients;
}

inline std::vector<torch::Tensor> copies_of(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> copies;
  for (const auto& tensor : tensors) copies.push_back(tensor.defined() ? tensor.clone() : tensor);
  return copies;
}

}  // namespace amp_test
