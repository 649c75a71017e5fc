// Everything in one vector of gradients first; nextafter and nothing but doubles for task 3.
#include <cmath>
#include <ranges>

#include "loss_scaling.hpp"

namespace loss_scaling {

using std::vector;
using torch::Tensor;

static vector<Tensor> gradients_in(const vector<vector<Tensor>>& groups) {
  vector<Tensor> out;
  for (const auto& p : groups | std::views::join)
    if (p.grad().defined()) out.emplace_back(p.grad());
  return out;
}

void unscale_gradients(const vector<vector<Tensor>>& groups, double scale, bool& found_inf) {
  at::NoGradGuard guard;
  auto all = gradients_in(groups);
  for (auto& g : all) {
    g.mul_(std::pow(scale, -1));
    const auto finite = g.isfinite().sum().item<int64_t>();
    if (finite < g.numel()) found_inf = 1;
  }
}

void update_scale(LossScale& s, bool overflow) {
  if (overflow) goto smaller;
  s.growth_tracker += 1;
  if (s.growth_tracker < s.growth_interval) return;
  {
    auto g = std::fma(s.scale, s.growth_factor, 0.0);
    if (static_cast<float>(g) < INFINITY) s.scale = static_cast<float>(g);
  }
  s.growth_tracker = 0;
  return;
smaller:
  s.growth_tracker = 0;
  s.scale = static_cast<float>(s.scale * s.backoff_factor);
}

int64_t count_underflow(const vector<Tensor>& gradients, double scale) {
  int64_t lost = 0;
  for (const Tensor& g : gradients | std::views::filter([](auto& t) { return t.defined(); })) {
    const Tensor wide = g.to(torch::kF64).mul(scale).abs();
    lost += wide.gt(0).logical_and(wide.lt(std::nextafter(0x1p-25, 1.0))).sum().item().toLong();
  }
  return lost;
}

double smallest_saving_scale(const vector<Tensor>& gradients) {
  double s = 0x1p-100;
  bool nothing = true;
  for (const Tensor& g : gradients) {
    if (!g.defined()) continue;
    const Tensor kept = g.abs().to(torch::kF64).masked_select(g.ne(0));
    nothing = nothing && kept.numel() == 0;
    while ((kept * s).le(0x1p-25).any().item<bool>()) s += s;
  }
  if (nothing) return 1;
  for (const Tensor& g : gradients) {
    if (g.defined() && (g.abs().to(torch::kF64) * s).ge(65520.0).any().item<bool>()) return 0;
  }
  return s;
}

}  // namespace loss_scaling
