// The loss scaling lab's answer: the clearest correct version, and the yardstick of the checks that
// hold no value worked by hand. It keeps LibTorch's rules, without LibTorch's own two operators.
#include <cmath>
#include <limits>

#include "judge/implementations.hpp"
#include "loss_scaling.hpp"

namespace {

using loss_scaling::LossScale;
using Gradients = std::vector<torch::Tensor>;

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  for (const auto& group : groups) {
    for (const auto& parameter : group) {
      const auto& gradient = parameter.grad();
      if (!gradient.defined()) continue;
      // Element by element: a sum of finite numbers may overflow.
      if (!gradient.isfinite().all().item<bool>()) found_inf = true;
      gradient.mul_(1 / scale);
    }
  }
}

void update_scale(LossScale& state, bool found_inf) {
  if (found_inf) {
    state.scale = static_cast<float>(state.scale * state.backoff_factor);
    state.growth_tracker = 0;
    return;
  }
  if (++state.growth_tracker < state.growth_interval) return;
  state.growth_tracker = 0;
  // As a float32 first: the product is a double, and finite there.
  const auto grown = static_cast<float>(state.scale * state.growth_factor);
  if (std::isfinite(grown)) state.scale = grown;
}

int64_t count_underflow(const Gradients& gradients, double scale) {
  int64_t count = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    // Scaled in float32, where a power of two costs no digit; then rounded, once.
    const auto half = (gradient * scale).to(torch::kFloat16);
    count += ((gradient != 0) & (half == 0)).sum().item<int64_t>();
  }
  return count;
}

float as_float16(double value) { return c10::Half(static_cast<float>(value)); }

double smallest_saving_scale(const Gradients& gradients) {
  double smallest = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    const auto magnitudes = gradient.abs().masked_select(gradient != 0);
    if (magnitudes.numel() == 0) continue;
    smallest = std::min(smallest, magnitudes.min().item<double>());
    largest = std::max(largest, magnitudes.max().item<double>());
  }
  if (largest == 0) return 1;
  double scale = 0x1p-110;  // below any that could do: 2^-110 * 1e20 is far below 2^-25
  while (as_float16(smallest * scale) == 0) scale *= 2;
  return std::isfinite(as_float16(largest * scale)) ? scale : 0;
}

loss_scaling::Impl answer() {
  loss_scaling::Impl impl;
  impl.unscale_gradients = unscale_gradients;
  impl.update_scale = update_scale;
  impl.count_underflow = count_underflow;
  impl.smallest_saving_scale = smallest_saving_scale;
  return impl;
}

[[maybe_unused]] const bool kRegistered = gradlab::set_reference(answer());

}  // namespace
