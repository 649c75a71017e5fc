// How a known mistake becomes a whole implementation: a wrong norm or a wrong clip is carried into
// the later tasks, as by a student who calls the earlier function; everything else is right.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "clipping.hpp"
#include "judge/check_names.hpp"
#include "judge/implementations.hpp"

namespace gradlab::clipping_bugs {

using clipping::Impl;
using Parameters = std::vector<torch::Tensor>;
using Norm = double (*)(const Parameters&);
using Clip = double (*)(const Parameters&, double);
using ClipAfterWarmup = bool (*)(const Parameters&, double, int64_t, int64_t);

constexpr double kEpsilon = 1e-6;

using Checks = CheckNames;

// What a wrong norm fails by itself.
inline Checks norms() {
  return {"hand_worked_norms", "norm_of_random_lists",  "a_million_elements",
          "half_and_bfloat16", "which_gradients_count", "norm_before_clipping_is_returned"};
}

// What a gradient that should be shorter, and is not or not rightly, fails.
inline Checks scaled() {
  return {"large_norm_is_scaled_as_one_vector",
          "cs336_and_appendix_d3",
          "tiny_limits_follow_the_formula",
          "float64_stays_double",
          "every_gradient_is_clipped_in_place",
          "a_second_call_stays_at_the_limit",
          "calls_share_no_state",
          "finite_norm_is_clipped",
          "returns_the_norm_and_clips_in_place",
          "clips_once_warmup_is_over",
          "the_boundary_step_clips"};
}

// What a gradient that should be left alone, and is not, fails.
inline Checks small() {
  return {"small_norm_is_left_alone", "finite_small_norm_is_left_alone",
          "small_norm_after_warmup_returns_true"};
}

template <typename Body>
void for_each_gradient(const Parameters& parameters, Body body) {
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) body(parameter.grad());
  }
}

inline double square_sum(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kFloat64).square().sum().item<double>();
}

inline double right_norm(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(parameters, [&](const auto& gradient) { sum += square_sum(gradient); });
  return std::sqrt(sum);
}

inline double coefficient_of(double norm, double max_norm) {
  const double coefficient = max_norm / (norm + kEpsilon);
  return coefficient < 1 ? coefficient : 1;
}

inline void scale(const Parameters& parameters, double coefficient) {
  if (coefficient == 1) return;
  for_each_gradient(parameters, [&](auto gradient) { gradient.mul_(coefficient); });
}

// By data_ptr, as if the elements of every tensor lay side by side in memory.
inline void scale_side_by_side(const Parameters& parameters, double coefficient) {
  if (coefficient == 1) return;
  for_each_gradient(parameters, [&](const torch::Tensor& gradient) {
    for (int64_t i = 0; i < gradient.numel(); ++i) {
      if (gradient.scalar_type() == torch::kFloat64) {
        gradient.mutable_data_ptr<double>()[i] *= coefficient;
      } else {
        gradient.mutable_data_ptr<float>()[i] *= static_cast<float>(coefficient);
      }
    }
  });
}

template <Norm norm>
double clip_by(const Parameters& parameters, double max_norm) {
  const double total = norm(parameters);
  scale(parameters, coefficient_of(total, max_norm));
  return total;
}

template <Norm norm, Clip clip>
double checked_by(const Parameters& parameters, double max_norm) {
  if (!std::isfinite(norm(parameters))) throw std::runtime_error("the norm is not finite");
  return clip(parameters, max_norm);
}

template <Clip clip>
bool after_warmup_by(const Parameters& parameters, double max_norm, int64_t step,
                     int64_t warmup_steps) {
  if (step < warmup_steps) return false;
  clip(parameters, max_norm);
  return true;
}

// Task 1: everything built on this norm.
template <Norm norm, Clip clip = clip_by<norm>>
Impl built_on() {
  Impl impl;
  impl.total_norm = norm;
  impl.clip_gradients = clip;
  impl.clip_gradients_checked = checked_by<norm, clip>;
  impl.clip_after_warmup = after_warmup_by<clip>;
  return impl;
}

// Task 2: a right norm, and this clip.
template <Clip clip>
Impl built_on_clip() {
  return built_on<right_norm, clip>();
}

inline Impl right() { return built_on<right_norm>(); }

// Tasks 3 and 4: nothing is built on them.
inline Impl with_checked(Clip checked) {
  Impl impl = right();
  impl.clip_gradients_checked = checked;
  return impl;
}

inline Impl with_after_warmup(ClipAfterWarmup after_warmup) {
  Impl impl = right();
  impl.clip_after_warmup = after_warmup;
  return impl;
}

}  // namespace gradlab::clipping_bugs
