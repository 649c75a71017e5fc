#include <cmath>
#include <limits>

#include "loss_scaling.hpp"

namespace loss_scaling {

namespace {

class Unscaler {
 public:
  explicit Unscaler(double scale) : inverse_(1.0 / scale) {}
  void operator()(torch::Tensor gradient) {
    const auto bad = torch::logical_or(gradient.isnan(), gradient.isinf());
    bad_ += bad.sum().item<int64_t>();
    gradient *= inverse_;
  }
  bool found() const { return bad_ > 0; }

 private:
  double inverse_;
  int64_t bad_ = 0;
};

struct Range {
  double smallest = std::numeric_limits<double>::max();
  double largest = 0;
  void add(const torch::Tensor& g) {
    const auto m = g.abs();
    const auto huge = torch::full_like(m, std::numeric_limits<float>::infinity());
    if (m.numel() == 0) return;
    smallest = std::min(smallest, torch::where(m == 0, huge, m).min().item<double>());
    largest = std::max(largest, m.max().item<double>());
  }
};

}  // namespace

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  Unscaler unscale(scale);
  for (const auto& group : groups)
    for (const auto& parameter : group)
      if (parameter.grad().defined()) unscale(parameter.grad());
  found_inf = found_inf || unscale.found();
}

void update_scale(LossScale& state, bool found_inf) {
  switch (static_cast<int>(found_inf)) {
    case 1:
      state = LossScale{static_cast<float>(state.scale * state.backoff_factor), 0,
                        state.growth_factor, state.backoff_factor, state.growth_interval};
      break;
    default:
      if (state.growth_tracker + 1 < state.growth_interval) {
        ++state.growth_tracker;
        break;
      }
      state.growth_tracker = 0;
      if (state.scale <= std::numeric_limits<float>::max() / state.growth_factor)
        state.scale = static_cast<float>(state.scale * state.growth_factor);
  }
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  int64_t lost = 0;
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    const auto scaled = g.to(torch::kFloat64).abs() * scale;
    lost += ((scaled > 0) & (scaled <= 0x1p-25)).sum().item<int64_t>();
  }
  return lost;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  Range range;
  for (const auto& g : gradients)
    if (g.defined()) range.add(g);
  if (range.largest == 0) return 1;
  const double power = std::floor(-25 - std::log2(range.smallest)) + 1;
  const double scale = std::exp2(power);
  return range.largest * scale < 65520 ? scale : 0;
}

}  // namespace loss_scaling
