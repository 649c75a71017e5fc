// What the autocast checks draw their cases with: models of a few layers, batches for them, the
// kinds of caller, and what rounding allows.
#pragma once

#include <string>
#include <vector>

#include "autocast.hpp"
#include "judge/check.hpp"

class Autocast : public gradlab::Check {};

namespace gradlab::autocast_checks {

// Tensors in words: matrix({{1, 2}, {3, 4}}), and one number as 1x1.
torch::Tensor matrix(const std::vector<std::vector<double>>& rows);
inline torch::Tensor one(double value) { return matrix({{value}}); }
inline torch::Tensor row(double value) { return torch::tensor({static_cast<float>(value)}); }
torch::Tensor half_of(const torch::Tensor& tensor, const std::string& dtype);

// Both half types, by name.
inline const std::vector<std::string>& dtypes() {
  static const std::vector<std::string> kBoth{"float16", "bfloat16"};
  return kBoth;
}

// A caller outside every region; other words replace this one.
Case plain(const std::string& dtype);
Case one_layer(const std::string& dtype, torch::Tensor weight, torch::Tensor x, torch::Tensor y);

// Layers of two to four features with biases (the middle one without, where there are three) and a
// batch for each step. Eighths below 2, which both half types hold.
Case draw_model(Random& random, const std::string& dtype, int layers, int batches = 1);
torch::Tensor eighths(Random& random, torch::IntArrayRef shape);

// Outside every region, in all the ways that the contract names.
const std::vector<std::string>& callers_outside();

inline testing::Matcher<const Observation&> NoError() { return Word("error_of_LibTorch", "none"); }

// What two right answers may differ by: half types round once an operation (2^-8, in bfloat16), and
// a step of a few layers is some of them. Relative to the largest element of the list (or to
// `at_least`), since sums may cancel. That it is the right half type shows elsewhere, exactly.
TensorRule close_in_half(const std::vector<torch::Tensor>& expected, double at_least = 0);
constexpr double kInHalf = 8 * 0x1p-8;
// At least, for gradients: a small error is a difference of outputs as large as the weights.
double largest_weight(const Case& in);
// At least, for a loss: however small, it is the square of a difference of outputs of about 2.
constexpr double kSquareOfOutputs = 4;

}  // namespace gradlab::autocast_checks
