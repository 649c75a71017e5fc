// The fused calls beside the plain ones: how near they must be.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gradlab/amp/clip.hpp"
#include "support/golden.hpp"

namespace amp_test {

using Tensors = std::vector<torch::Tensor>;

inline gradlab::amp::ClipOptions fused() {
  gradlab::amp::ClipOptions options;
  options.fused = true;
  return options;
}

inline double true_norm(const Tensors& gradients) {
  double sum = 0;
  for (const auto& gradient : gradients) {
    sum += gradient.to(torch::kDouble).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

inline double relative_error(double got, double expected) { return std::abs(got / expected - 1); }

inline Tensors defined_gradients(const Tensors& parameters) {
  Tensors all;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) all.push_back(parameter.grad());
  }
  return all;
}

// Against PyTorch, which rounds norm, coefficient and each product to the dtype: in bfloat16 (half
// an ulp is 2^-8) four times where the pass does once.
inline double tolerance_of(torch::ScalarType type) {
  switch (type) {
    case torch::kBFloat16:
      return 4.0 / 256;
    case torch::kHalf:
      return 1e-3;
    case torch::kDouble:
      return 1e-12;
    default:
      return 1e-6;
  }
}

// Of a list: PyTorch's coefficient is as exact as the coarsest norm.
inline double tolerance_of(const Tensors& gradients) {
  double tolerance = 0;
  for (const auto& gradient : gradients) {
    tolerance = std::max(tolerance, tolerance_of(gradient.scalar_type()));
  }
  return tolerance;
}

inline void expect_close(const Tensors& got, const Tensors& expected, double relative) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(golden::close(got[i], expected[i], relative, 0)) << "gradient " << i;
  }
}

}  // namespace amp_test
