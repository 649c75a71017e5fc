// What the clipping checks draw their cases with: lists of gradients of many shapes with short
// numbers, limits chosen to their norm, and the tolerances of the contract.
//
// Every case in tasks 2 to 4 stays outside the band in which two rules are in use: a norm is at
// most 0.99 max_norm - 2e-6 (with max_norm >= 1e-2) or at least 1.0001 max_norm.
#pragma once

#include <vector>

#include "clipping.hpp"
#include "judge/check.hpp"

class Clipping : public gradlab::Check {};

namespace gradlab::clipping_checks {

using Gradients = std::vector<torch::Tensor>;

// Gradients in words: row({3, 4}) is [3, 4].
torch::Tensor row(const std::vector<double>& values, torch::ScalarType dtype = torch::kFloat32);
torch::Tensor scalar(double value, torch::ScalarType dtype = torch::kFloat32);
inline torch::Tensor none() { return {}; }

// The types of a drawn list; mixed is float32 and float64 beside each other.
enum class Types { kFloat32, kFloat64, kMixed };
Types types_of(int index);  // all three in turn

// Elements of two digits, k * 10^exponent with 10 <= |k| <= 99: short to read, and none so small
// that a mistake hides in it. In float64 most of them are no floats, so a cast to float is seen.
// The half types get eighths, which they hold exactly; there `exponent` has no meaning.
torch::Tensor draw_values(Random& random, torch::IntArrayRef shape, torch::ScalarType dtype,
                          int exponent = -1);
// `count` gradients of shapes from 0-dim to 3-dim, empty ones too, at least the first with
// elements.
Gradients draw_gradients(Random& random, int count, Types types, int exponent = -1);
// Laid out with gaps or against the grain: every second column of a wider matrix, or transposed.
torch::Tensor draw_strided(Random& random, torch::ScalarType dtype);
torch::Tensor draw_transposed(Random& random, torch::ScalarType dtype);

double exact_norm(const Gradients& gradients);
// The nearest number of so many digits that is not above, or not below.
double rounded_down(double value, int digits);
double rounded_up(double value, int digits);

// A list of parameters with these gradients; the values are drawn, never 0, and no gradient's.
// `frozen` names those that do not require a gradient.
Case list_of(Random& random, const Gradients& gradients, const std::vector<size_t>& frozen = {});
Case clip_case(Random& random, const Gradients& gradients, double max_norm,
               const std::vector<size_t>& frozen = {});

// Lists worked by hand, chosen so that a wrong norm or coefficient shows on one of them whatever is
// drawn: norms above the limit, and what is left; norms below it, which leave everything. No plain
// slip of another kind shows on them (a missing gradient, gaps in memory): that has checks by
// itself, and the checks that guards wait for are built on these.
struct WorkedClip {
  Gradients gradients;
  double max_norm;
  Gradients clipped;
};
std::vector<WorkedClip> worked_large();
std::vector<WorkedClip> worked_small();
std::vector<Case> cases_of(Random& random, const std::vector<WorkedClip>& worked);

// Drawn lists of 1 to 12 gradients, more with each index, whose norm is far above the limit (or
// just above: index 3), and far below it (or just below the band: index 3).
Case draw_large(Random& random, int index);
Case draw_small(Random& random, int index);
// The worked lists, and then `count` drawn ones.
std::vector<Case> large_cases(Random& random, int count);
std::vector<Case> small_cases(Random& random, int count);

// What is left of the case at this place of large_cases: by hand where it was worked, else as the
// reference leaves it.
TensorRule clipped(const Run& run, size_t index);

// What any order of summation may be off by, relative: the bound of a running float32 sum.
double norm_tolerance(const Gradients& gradients);
// The same for a clipped gradient, whose coefficient has that error, and a few roundings more.
Tolerance clip_tolerance(const Case& in);

}  // namespace gradlab::clipping_checks
