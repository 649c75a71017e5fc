// Wrong: returns as soon as an inf or NaN is found, so the gradients after it stay scaled.
// In task 1.
#include <cmath>

#include "loss_scaling.hpp"

namespace loss_scaling {

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  for (const auto& group : groups) {
    for (const auto& p : group) {
      if (!p.grad().defined()) continue;
      torch::Tensor g = p.grad().detach();
      if (!torch::isfinite(g).all().item<bool>()) {
        found_inf = true;
        return;  // this step is skipped anyway
      }
      g.div_(scale);
    }
  }
}

void update_scale(LossScale& state, bool found_inf) {
  if (found_inf) {
    state.scale = static_cast<float>(state.scale * state.backoff_factor);
    state.growth_tracker = 0;
    return;
  }
  ++state.growth_tracker;
  if (state.growth_tracker == state.growth_interval) {
    state.growth_tracker = 0;
    const float larger = static_cast<float>(state.scale * state.growth_factor);
    if (std::isfinite(larger)) state.scale = larger;
  }
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  int64_t count = 0;
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    const torch::Tensor half = (g.detach().to(torch::kDouble) * scale).to(torch::kHalf);
    count += ((g != 0) & (half == 0)).sum().item<int64_t>();
  }
  return count;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  double smallest = INFINITY, largest = 0;
  for (const auto& g : gradients) {
    if (!g.defined() || g.numel() == 0) continue;
    const torch::Tensor a = g.detach().abs().to(torch::kDouble).flatten();
    const torch::Tensor nonzero = a.masked_select(a > 0);
    if (nonzero.numel() == 0) continue;
    smallest = std::fmin(smallest, nonzero.min().item<double>());
    largest = std::fmax(largest, nonzero.max().item<double>());
  }
  if (largest == 0) return 1;
  const double border = std::ldexp(1.0, -25);
  double scale = std::ldexp(1.0, -100);
  while (smallest * scale <= border) scale *= 2;
  return largest * scale >= 65520 ? 0 : scale;
}

}  // namespace loss_scaling
