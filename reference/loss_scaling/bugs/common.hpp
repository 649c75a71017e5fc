// How a known mistake becomes a whole implementation: one function is wrong, or the rounding that
// both functions of task 3 stand on; everything else is right.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "judge/implementations.hpp"
#include "loss_scaling.hpp"

namespace gradlab::loss_scaling_bugs {

using loss_scaling::Impl;
using loss_scaling::LossScale;
using Gradients = std::vector<torch::Tensor>;
using Groups = std::vector<Gradients>;
using Unscale = void (*)(const Groups&, double, bool&);
using Update = void (*)(LossScale&, bool);
using Count = int64_t (*)(const Gradients&, double);
using SavingScale = double (*)(const Gradients&);
// How many elements of one gradient are lost at a scale.
using LostIn = int64_t (*)(const torch::Tensor& gradient, double scale);

template <typename Body>
void for_each_gradient(const Groups& groups, Body body) {
  for (const auto& group : groups) {
    for (const auto& parameter : group) {
      if (parameter.grad().defined()) body(parameter.grad());
    }
  }
}

inline bool all_finite(const torch::Tensor& gradient) {
  return gradient.isfinite().all().item<bool>();
}

inline void right_unscale(const Groups& groups, double scale, bool& found_inf) {
  for_each_gradient(groups, [&](auto gradient) {
    if (!all_finite(gradient)) found_inf = true;
    gradient.mul_(1 / scale);
  });
}

inline void unscale_only(const Groups& groups, double scale) {
  for_each_gradient(groups, [&](auto gradient) { gradient.mul_(1 / scale); });
}

inline float product(float scale, double factor) { return static_cast<float>(scale * factor); }

inline void back_off(LossScale& state) {
  state.scale = product(state.scale, state.backoff_factor);
  state.growth_tracker = 0;
}

inline void grow(LossScale& state) {
  const float grown = product(state.scale, state.growth_factor);
  if (std::isfinite(grown)) state.scale = grown;
}

inline void right_update(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker < state.growth_interval) return;
  state.growth_tracker = 0;
  grow(state);
}

inline int64_t lost_in(const torch::Tensor& gradient, double scale) {
  const auto half = (gradient * scale).to(torch::kFloat16);
  return ((gradient != 0) & (half == 0)).sum().item<int64_t>();
}

template <LostIn lost>
int64_t count_by(const Gradients& gradients, double scale) {
  int64_t count = 0;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) count += lost(gradient, scale);
  }
  return count;
}

// The magnitudes of all elements that are not 0; none where there is no such element.
inline torch::Tensor magnitudes_of(const Gradients& gradients) {
  std::vector<torch::Tensor> all{torch::empty({0}, torch::kFloat64)};
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    all.push_back(gradient.masked_select(gradient != 0).abs().to(torch::kFloat64));
  }
  return torch::cat(all);
}

inline double smallest_of(const torch::Tensor& magnitudes) {
  return magnitudes.min().item<double>();
}
inline double largest_of(const torch::Tensor& magnitudes) {
  return magnitudes.max().item<double>();
}

// The smallest power of two with which `magnitude` is above `border`.
inline double power_above(double magnitude, double border) {
  double scale = 0x1p-120;
  while (magnitude * scale <= border) scale *= 2;
  return scale;
}

constexpr double kLost = 0x1p-25;      // up to it a float16 is 0
constexpr double kInfinite = 65520.0;  // and from it on inf

inline double right_saving_scale(const Gradients& gradients) {
  const auto magnitudes = magnitudes_of(gradients);
  if (magnitudes.numel() == 0) return 1;
  const double scale = power_above(smallest_of(magnitudes), kLost);
  return largest_of(magnitudes) * scale < kInfinite ? scale : 0;
}

inline Impl right() {
  Impl impl;
  impl.unscale_gradients = right_unscale;
  impl.update_scale = right_update;
  impl.count_underflow = count_by<lost_in>;
  impl.smallest_saving_scale = right_saving_scale;
  return impl;
}

inline Impl with_unscale(Unscale unscale) {
  Impl impl = right();
  impl.unscale_gradients = unscale;
  return impl;
}

inline Impl with_update(Update update) {
  Impl impl = right();
  impl.update_scale = update;
  return impl;
}

inline Impl with_count(Count count) {
  Impl impl = right();
  impl.count_underflow = count;
  return impl;
}

inline Impl with_saving_scale(SavingScale scale) {
  Impl impl = right();
  impl.smallest_saving_scale = scale;
  return impl;
}

}  // namespace gradlab::loss_scaling_bugs
