// One fused multiplication a group, and the exponent read off with frexp.
#include <cmath>

#include "loss_scaling.hpp"

namespace loss_scaling {

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  torch::NoGradGuard no_grad;
  for (const auto& group : groups) {
    std::vector<torch::Tensor> grads;
    for (const auto& p : group) {
      if (p.grad().defined()) grads.push_back(p.grad());
    }
    if (grads.empty()) continue;
    for (const auto& g : grads) {
      // 0 * inf and 0 * NaN are NaN, everything else is 0.
      if (g.mul(0).sum().isnan().item<bool>()) found_inf = true;
    }
    at::_foreach_mul_(grads, 1.0 / scale);
  }
}

void update_scale(LossScale& state, bool found_inf) {
  const int64_t clean = found_inf ? 0 : state.growth_tracker + 1;
  const bool grows = clean == state.growth_interval;
  state.growth_tracker = grows ? 0 : clean;
  const float next = found_inf ? static_cast<float>(state.scale * state.backoff_factor)
                     : grows   ? static_cast<float>(state.scale * state.growth_factor)
                               : state.scale;
  if (std::isfinite(next)) state.scale = next;
}

static torch::Tensor all_of(const std::vector<torch::Tensor>& gradients) {
  std::vector<torch::Tensor> flat{torch::zeros({0}, torch::kFloat)};
  for (const auto& g : gradients) {
    if (g.defined()) flat.push_back(g.reshape({-1}));
  }
  return torch::cat(flat);
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  const auto all = all_of(gradients);
  const auto saved = (all * scale).to(torch::kFloat16).count_nonzero().item<int64_t>();
  return all.count_nonzero().item<int64_t>() - saved;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  auto all = all_of(gradients).abs();
  all = all.index({all > 0});
  if (all.numel() == 0) return 1;
  int exponent;
  // smallest = f * 2^exponent with f in [0.5, 1): above 2^-25 at 2^(-24 - exponent), but for f =
  // 0.5
  const double f = std::frexp(all.min().item<float>(), &exponent);
  const double scale = std::ldexp(1.0, -24 - exponent + (f == 0.5 ? 1 : 0));
  return (all.max() * scale).to(torch::kFloat16).isfinite().item<bool>() ? scale : 0;
}

}  // namespace loss_scaling
