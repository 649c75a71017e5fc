// As LibTorch has it: a float32 tensor for found_inf, another for 1 / scale.
#include <cmath>

#include "loss_scaling.hpp"

namespace loss_scaling {

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  torch::Tensor found = torch::full({}, found_inf ? 1.0 : 0.0, torch::kFloat);
  torch::Tensor inverse = torch::full({}, scale, torch::kDouble).reciprocal().to(torch::kFloat);
  for (const auto& group : groups) {
    for (const auto& param : group) {
      torch::Tensor grad = param.grad();
      if (!grad.defined()) continue;
      found = torch::maximum(found, (~torch::isfinite(grad)).any().to(torch::kFloat));
      grad.mul_(inverse);
    }
  }
  found_inf = found.item<float>() != 0;
}

void update_scale(LossScale& state, bool found_inf) {
  torch::Tensor scale = torch::full({}, state.scale, torch::kFloat);
  torch::Tensor factor =
      torch::full({}, found_inf ? state.backoff_factor : state.growth_factor, torch::kFloat);
  state.growth_tracker = found_inf ? 0 : state.growth_tracker + 1;
  if (!found_inf && state.growth_tracker != state.growth_interval) return;
  state.growth_tracker = 0;
  torch::Tensor next = scale * factor;
  state.scale = torch::where(torch::isfinite(next), next, scale).item<float>();
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  torch::Tensor count = torch::zeros({}, torch::kLong);
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    torch::Tensor scaled = g * torch::full({}, scale, torch::kFloat);
    torch::Tensor half = scaled.toType(torch::kHalf);
    count += torch::sum(g.ne(0) * half.eq(0));
  }
  return count.item<int64_t>();
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  torch::Tensor small = torch::full({}, INFINITY, torch::kFloat);
  torch::Tensor large = torch::zeros({}, torch::kFloat);
  for (const auto& g : gradients) {
    if (!g.defined() || g.numel() == 0) continue;
    torch::Tensor a = g.abs();
    large = torch::maximum(large, a.max());
    small = torch::minimum(small, a.masked_fill(a == 0, INFINITY).min());
  }
  if (small.isinf().item<bool>()) return 1;
  double scale = 1;
  while ((small * scale).to(torch::kHalf).item<float>() == 0) scale *= 2;
  while ((small * (scale / 2)).to(torch::kHalf).item<float>() != 0) scale /= 2;
  return (large * scale).to(torch::kHalf).isinf().item<bool>() ? 0.0 : scale;
}

}  // namespace loss_scaling
