// Unscales first, into the old memory through data(), and looks afterwards. Sorts for task 3.
#include <algorithm>
#include <cmath>

#include "loss_scaling.hpp"

namespace loss_scaling {

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  for (const auto& group : groups) {
    std::for_each(group.begin(), group.end(), [&](const torch::Tensor& p) {
      if (auto g = p.grad(); g.defined()) at::div_out(g, g, torch::scalar_tensor(scale));
    });
  }
  for (const auto& group : groups) {
    found_inf = found_inf || std::any_of(group.begin(), group.end(), [](const torch::Tensor& p) {
                  if (!p.grad().defined() || p.grad().numel() == 0) return false;
                  const double m = p.grad().abs().max().item<double>();  // NaN wins a max
                  return std::isnan(m) || std::isinf(m);
                });
  }
}

void update_scale(LossScale& state, bool found_inf) {
  LossScale next = state;
  if (found_inf) {
    next.scale = static_cast<float>(static_cast<double>(state.scale) * state.backoff_factor);
    next.growth_tracker = 0;
  } else if (next.growth_tracker += 1; next.growth_tracker >= next.growth_interval) {
    next.scale = static_cast<float>(static_cast<double>(state.scale) * state.growth_factor);
    next.growth_tracker = 0;
    if (next.scale == HUGE_VALF) next.scale = state.scale;
  }
  state = next;
}

static std::vector<float> sorted(const std::vector<torch::Tensor>& gradients) {
  std::vector<float> all;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    auto flat = gradient.abs().flatten().clone();
    auto access = flat.accessor<float, 1>();
    for (int64_t i = 0; i < flat.size(0); ++i)
      if (access[i] > 0) all.push_back(access[i]);
  }
  std::sort(all.begin(), all.end());
  return all;
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  const auto all = sorted(gradients);
  const double border = 0x1p-25 / scale;
  return std::upper_bound(all.begin(), all.end(), border, [](double b, float x) { return b < x; }) -
         all.begin();
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  const auto all = sorted(gradients);
  if (all.empty()) return 1;
  const double scale = std::exp2(-25.0 - std::ilogb(all.front()));
  const double enough = all.front() * scale > 0x1p-25 ? scale : 2 * scale;
  return c10::Half(static_cast<float>(all.back() * enough)).x == 0x7C00 ? 0 : enough;
}

}  // namespace loss_scaling
