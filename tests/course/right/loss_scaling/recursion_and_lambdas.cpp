#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "loss_scaling.hpp"

namespace loss_scaling {

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  const std::function<bool(size_t, size_t)> walk = [&](size_t group, size_t at) -> bool {
    if (group == groups.size()) return false;
    if (at == groups[group].size()) return walk(group + 1, 0);
    const auto& grad = groups[group][at].grad();
    bool bad = false;
    if (grad.defined()) {
      bad = (grad - grad).ne(0).any().item<bool>();  // inf - inf and NaN - NaN are NaN
      grad.copy_(grad.div(scale));
    }
    const bool others = walk(group, at + 1);
    return bad || others;
  };
  if (walk(0, 0)) found_inf = true;
}

void update_scale(LossScale& state, bool found_inf) {
  const auto set = [&](double factor, int64_t tracker) {
    const float next = static_cast<float>(factor * state.scale);
    state.growth_tracker = tracker;
    if (std::isfinite(next)) state.scale = next;
  };
  if (found_inf)
    set(state.backoff_factor, 0);
  else if (state.growth_interval - state.growth_tracker == 1)
    set(state.growth_factor, 0);
  else
    set(1, state.growth_tracker + 1);
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  return std::transform_reduce(
      gradients.begin(), gradients.end(), int64_t{0}, std::plus<>{},
      [&](const torch::Tensor& g) -> int64_t {
        if (!g.defined() || g.numel() == 0) return 0;
        const auto before = g.to(torch::kBool);
        const auto after = g.mul(scale).to(torch::kHalf).to(torch::kBool);
        return torch::logical_xor(before, after).count_nonzero().item<int64_t>();
      });
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  const auto fits = [&](int k) { return count_underflow(gradients, std::exp2(k)) == 0; };
  // The answers from -100 to 100 are no, no, ..., yes, yes: the first yes by bisection.
  int no = -101, yes = 101;
  while (yes - no > 1) {
    const int middle = (no + yes) / 2;
    (fits(middle) ? yes : no) = middle;
  }
  if (yes == -100) return 1;  // nothing is lost however small the scale is: all are 0
  const double scale = std::exp2(yes);
  const bool overflow = std::any_of(gradients.begin(), gradients.end(), [&](const auto& g) {
    return g.defined() && (g.abs().to(torch::kDouble) * scale >= 65520).any().template item<bool>();
  });
  return overflow ? 0 : scale;
}

}  // namespace loss_scaling
