// Wrong: takes 2^-24, the smallest float16 above 0, for the border: what lies between 2^-25 and
// 2^-24 counts as lost.
// In task 3.
#include <cmath>
#include <limits>
#include <optional>

#include "loss_scaling.hpp"

namespace loss_scaling {

namespace {

// Calls f with each gradient element as a double.
template <typename F>
void for_each(const std::vector<torch::Tensor>& gradients, F f) {
  for (const torch::Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    const torch::Tensor flat = gradient.detach().contiguous();
    const float* data = flat.data_ptr<float>();
    for (int64_t i = 0; i < flat.numel(); ++i) f(static_cast<double>(data[i]));
  }
}

// Below the smallest float16 there is only 0.
bool vanishes(double value) { return std::fabs(value) < std::ldexp(1.0, -24); }
bool overflows(double value) { return std::fabs(value) >= 65520.0; }

}  // namespace

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  const torch::NoGradGuard no_grad;
  const double inverse = 1.0 / scale;
  bool bad = false;
  for (const std::vector<torch::Tensor>& group : groups) {
    for (const torch::Tensor& parameter : group) {
      torch::Tensor gradient = parameter.grad();
      if (gradient.defined()) {
        bad = bad || gradient.isinf().any().item<bool>() || gradient.isnan().any().item<bool>();
        gradient.mul_(inverse);
      }
    }
  }
  found_inf = found_inf || bad;
}

void update_scale(LossScale& state, bool found_inf) {
  float next = state.scale;
  int64_t tracker = found_inf ? 0 : state.growth_tracker + 1;
  if (found_inf) next *= static_cast<float>(state.backoff_factor);
  if (tracker >= state.growth_interval) {
    next *= static_cast<float>(state.growth_factor);
    tracker = 0;
  }
  if (next <= std::numeric_limits<float>::max()) state.scale = next;
  state.growth_tracker = tracker;
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  int64_t lost = 0;
  for_each(gradients, [&](double value) {
    if (value != 0 && vanishes(value * scale)) ++lost;
  });
  return lost;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  std::optional<double> low, high;
  for_each(gradients, [&](double value) {
    value = std::fabs(value);
    if (value == 0) return;
    if (!low || value < *low) low = value;
    if (!high || value > *high) high = value;
  });
  if (!low) return 1;
  int exponent = -120;
  while (vanishes(std::ldexp(*low, exponent))) ++exponent;
  if (overflows(std::ldexp(*high, exponent))) return 0;
  return std::ldexp(1.0, exponent);
}

}  // namespace loss_scaling
