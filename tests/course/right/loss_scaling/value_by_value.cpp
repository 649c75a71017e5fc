// The long way: counts with three comparisons, scales with a table of powers, updates by cases.
#include <array>
#include <cmath>
#include <optional>

#include "loss_scaling.hpp"

namespace loss_scaling {

struct Found {
  bool plus = false, minus = false, nan = false;
  void look(const torch::Tensor& g) {
    plus = plus || g.eq(INFINITY).any().item<bool>();
    minus = minus || g.eq(-INFINITY).any().item<bool>();
    nan = nan || g.ne(g).any().item<bool>();
  }
  explicit operator bool() const { return plus || minus || nan; }
};

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  Found found;
  for (const auto& group : groups) {
    for (auto param : group) {
      torch::Tensor& grad = param.mutable_grad();
      if (grad.defined()) {
        found.look(grad);
        grad /= scale;
      }
    }
  }
  if (found) found_inf = true;
}

void update_scale(LossScale& state, bool found_inf) {
  const bool due = state.growth_tracker == state.growth_interval - 1;
  if (found_inf) {
    state.scale = std::ldexp(static_cast<float>(state.backoff_factor), 0) * state.scale;
  }
  if (!found_inf && due) {
    const volatile float grown = state.scale * static_cast<float>(state.growth_factor);
    if (grown - grown == 0) state.scale = grown;
  }
  state.growth_tracker = found_inf || due ? 0 : state.growth_tracker + 1;
}

static const auto& powers() {
  static const auto table = [] {
    std::array<double, 201> all{};
    for (int k = 0; k <= 200; ++k) all[static_cast<size_t>(k)] = std::ldexp(1.0, k - 100);
    return all;
  }();
  return table;
}

static torch::Tensor scaled(const torch::Tensor& g, double scale) {
  return torch::multiply(g.detach().clone(), scale).to(torch::kFloat16).to(torch::kFloat32);
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  int64_t lost = 0;
  for (size_t i = 0; i < gradients.size(); i++) {
    if (!gradients[i].defined()) continue;
    const auto half = scaled(gradients[i], scale);
    for (int sign : {-1, 1}) lost += ((gradients[i] * sign > 0) & (half == 0)).sum().item<int>();
  }
  return lost;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  std::optional<double> chosen;
  bool all_zero = true;
  for (const auto& g : gradients)
    if (g.defined() && g.numel() > 0 && !g.eq(0).all().item<bool>()) all_zero = false;
  if (all_zero) return 1.0;
  for (double power : powers()) {
    if (count_underflow(gradients, power) == 0) {
      chosen = power;
      break;
    }
  }
  if (!chosen) return 0.0;
  for (const auto& g : gradients)
    if (g.defined() && scaled(g, *chosen).isinf().any().item<bool>()) return 0.0;
  return *chosen;
}

}  // namespace loss_scaling
