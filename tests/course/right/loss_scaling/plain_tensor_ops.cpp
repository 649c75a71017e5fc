#include <cmath>

#include "loss_scaling.hpp"

namespace loss_scaling {

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  for (auto& group : groups) {
    for (auto& p : group) {
      auto g = p.grad();
      if (!g.defined()) continue;
      found_inf |= !torch::isfinite(g).all().item<bool>();
      g.div_(scale);
    }
  }
}

void update_scale(LossScale& state, bool found_inf) {
  if (found_inf) {
    state.scale *= state.backoff_factor;
    state.growth_tracker = 0;
  } else {
    state.growth_tracker += 1;
    if (state.growth_tracker == state.growth_interval) {
      float bigger = state.scale * state.growth_factor;
      if (!std::isinf(bigger)) state.scale = bigger;
      state.growth_tracker = 0;
    }
  }
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  int64_t n = 0;
  for (auto& g : gradients) {
    if (!g.defined()) continue;
    auto half = (g * scale).to(torch::kHalf);
    n += torch::logical_and(g != 0, half == 0).sum().item<int64_t>();
  }
  return n;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  bool something = false;
  for (auto& g : gradients) something |= g.defined() && g.count_nonzero().item<int64_t>() > 0;
  if (!something) return 1;
  for (int k = -100; k <= 100; ++k) {
    double s = std::pow(2.0, k);
    if (count_underflow(gradients, s) > 0) continue;
    for (auto& g : gradients) {
      if (g.defined() && (g * s).to(torch::kHalf).isinf().any().item<bool>()) return 0;
    }
    return s;
  }
  return 0;
}

}  // namespace loss_scaling
