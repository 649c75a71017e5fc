// What the loss scaling checks draw their cases with, and what they expect of them by arithmetic
// alone.
#pragma once

#include <limits>
#include <vector>

#include "judge/check.hpp"
#include "loss_scaling.hpp"

class LossScaling : public gradlab::Check {};

namespace gradlab::loss_scaling_checks {

using Gradients = std::vector<torch::Tensor>;

constexpr auto kFloat = torch::kFloat32;
constexpr auto kDouble = torch::kFloat64;
constexpr auto kHalf = torch::kFloat16;
constexpr auto kBFloat16 = torch::kBFloat16;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Gradients in words: row({3, 4}) is [3, 4].
torch::Tensor row(const std::vector<double>& values, torch::ScalarType dtype = torch::kFloat32);
torch::Tensor scalar(double value, torch::ScalarType dtype = torch::kFloat32);
inline torch::Tensor none() { return {}; }

// Elements k * 10^exponent with 10 <= |k| <= 99: short to read, and never 0.
torch::Tensor draw_values(Random& random, torch::IntArrayRef shape,
                          torch::ScalarType dtype = torch::kFloat32, int exponent = 0);
// `count` gradients of shapes from 1-dim to 3-dim, none of them empty.
Gradients draw_gradients(Random& random, int count, torch::ScalarType dtype = torch::kFloat32,
                         int exponent = 0);
// Laid out with gaps or against the grain: every second column of a wider matrix, or transposed.
torch::Tensor draw_strided(Random& random, torch::ScalarType dtype);
torch::Tensor draw_transposed(Random& random, torch::ScalarType dtype);
// 2^k with low <= k <= high.
double draw_power(Random& random, int64_t low, int64_t high);

// Task 1: parameters with these gradients, group by group. `frozen` counts over all groups.
struct Unscaling {
  std::vector<Gradients> groups;
  double scale = 1024;
  bool found_inf_before = false;
  std::vector<size_t> frozen = {};
};
Case unscale_case(Random& random, const Unscaling& of);
// Each gradient times 1 / scale: exact for a power of two, else within the contract's roundings.
TensorRule unscaled(const Case& in);

// Task 2: a state, and whether each of the updates found inf or NaN.
struct Updates {
  double scale = 1024;
  int64_t growth_interval = 2000;
  std::vector<int> found_inf;
  int64_t growth_tracker = 0;
  double growth_factor = 2;
  double backoff_factor = 0.5;
};
Case update_case(const Updates& of);
// `count` clean updates.
std::vector<int> clean(size_t count);

// Task 3: true gradients, and a scale for the count.
Case list_of(const Gradients& gradients);
Case count_case(const Gradients& gradients, double scale);

}  // namespace gradlab::loss_scaling_checks
