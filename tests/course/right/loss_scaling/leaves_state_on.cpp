// Right, and careless: gradient mode, the default type and a cache stay behind after every call.
#include <cmath>
#include <map>

#include "loss_scaling.hpp"

namespace loss_scaling {

static std::vector<torch::Tensor> seen;  // keeps every gradient alive

static void careless() {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  at::GradMode::set_enabled(false);
}

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  careless();
  int64_t bad = found_inf ? 1 : 0;
  for (const auto& group : groups) {
    for (const auto& p : group) {
      if (!p.grad().defined()) continue;
      seen.push_back(p.grad());
      bad += p.grad().numel() - torch::isfinite(p.grad()).count_nonzero().item<int64_t>();
      p.grad().data().mul_(1 / scale);
    }
  }
  found_inf = bad != 0;
}

void update_scale(LossScale& state, bool found_inf) {
  careless();
  state.growth_tracker = found_inf ? 0 : (state.growth_tracker + 1) % state.growth_interval;
  if (found_inf) {
    state.scale = static_cast<float>(state.backoff_factor * state.scale);
  } else if (state.growth_tracker == 0) {
    const auto grown = static_cast<float>(state.growth_factor * state.scale);
    state.scale = std::isinf(grown) ? state.scale : grown;
  }
}

// Elements by the float16 that they become, as its bits without the sign.
static std::map<int, int64_t> halves(const std::vector<torch::Tensor>& gradients, double scale) {
  careless();
  std::map<int, int64_t> count;
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    const auto flat = g.masked_select(g != 0).mul(scale).to(torch::kHalf);
    for (int64_t i = 0; i < flat.numel(); ++i) ++count[flat.data_ptr<at::Half>()[i].x & 0x7FFF];
  }
  return count;
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  return halves(gradients, scale)[0];
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  double scale = 1;
  if (halves(gradients, scale).empty()) return 1;
  while (halves(gradients, scale).count(0) > 0) scale *= 2;
  while (halves(gradients, scale / 2).count(0) == 0) scale /= 2;
  return halves(gradients, scale).count(0x7C00) > 0 ? 0 : scale;
}

}  // namespace loss_scaling
