// Rounding to float16 by integers alone: the yardstick of task 3, independent of LibTorch's own
// conversion.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace gradlab::loss_scaling_checks {

// The bits of |value| * 2^exponent as a float16, rounded once, to nearest, ties to even.
// REQUIRES: a finite value.
uint16_t float16_magnitude(float value, int exponent);

// Elements that are not 0 and become 0, or inf, at the scale 2^exponent.
int64_t count_lost(const std::vector<torch::Tensor>& gradients, int exponent);
int64_t count_infinite(const std::vector<torch::Tensor>& gradients, int exponent);

// By trying one power of two after the other, from below; 0 where it makes an element inf, and 1
// where there is nothing to save.
double smallest_saving_scale(const std::vector<torch::Tensor>& gradients);

}  // namespace gradlab::loss_scaling_checks
