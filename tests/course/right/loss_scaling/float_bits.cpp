// All of float16 by hand, from the bits of a float.
#include <bit>
#include <cmath>
#include <cstring>

#include "loss_scaling.hpp"

namespace loss_scaling {

template <typename T>
static bool any_bad(const torch::Tensor& flat) {
  const T* p = flat.data_ptr<T>();
  for (int64_t i = 0; i < flat.numel(); i++) {
    const float x = static_cast<float>(p[i]);
    if constexpr (std::is_same_v<T, double>) {
      if (!(std::abs(p[i]) <= 1.7976931348623157e308)) return true;
    } else if ((std::bit_cast<uint32_t>(x) & 0x7F800000u) == 0x7F800000u) {
      return true;
    }
  }
  return false;
}

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  for (const auto& group : groups) {
    for (const auto& p : group) {
      if (!p.grad().defined()) continue;
      const auto flat = p.grad().contiguous();
      bool bad = false;
      switch (flat.scalar_type()) {
        case torch::kFloat:
          bad = any_bad<float>(flat);
          break;
        case torch::kDouble:
          bad = any_bad<double>(flat);
          break;
        case torch::kHalf:
          bad = any_bad<at::Half>(flat);
          break;
        default:
          bad = any_bad<at::BFloat16>(flat);
      }
      if (bad) found_inf = true;
      p.grad().copy_(p.grad() * (1 / scale));
    }
  }
}

void update_scale(LossScale& state, bool found_inf) {
  float& scale = state.scale;
  int64_t& tracker = state.growth_tracker;
  tracker = found_inf ? 0 : tracker + 1;
  if (found_inf) {
    scale = scale * static_cast<float>(state.backoff_factor);
  } else if (tracker == state.growth_interval) {
    tracker = 0;
    const float grown = scale * static_cast<float>(state.growth_factor);
    scale = grown == INFINITY ? scale : grown;
  }
}

// -1, 0, 1: is |x| * 2^k nothing, something, or too much for a float16?
static int fate(float x, int k) {
  const double v = std::ldexp(std::abs(static_cast<double>(x)), k);
  const double tiny = std::ldexp(1.0, -24);
  if (v < 65520 && std::nearbyint(v / tiny) == 0) return -1;
  return v < 65520 ? 0 : 1;
}

static std::vector<float> floats(const std::vector<torch::Tensor>& gradients) {
  std::vector<float> all;
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    const auto flat = g.contiguous();
    const float* p = flat.data_ptr<float>();
    for (int64_t i = 0; i < flat.numel(); i++)
      if (p[i] != 0) all.push_back(p[i]);
  }
  return all;
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  int64_t n = 0;
  for (float x : floats(gradients)) n += fate(x, std::ilogb(scale)) < 0;
  return n;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  const auto all = floats(gradients);
  if (all.empty()) return 1;
  int k = -1000;
  for (float x : all)
    while (fate(x, k) < 0) ++k;
  for (float x : all)
    if (fate(x, k) > 0) return 0;
  return std::ldexp(1.0, k);
}

}  // namespace loss_scaling
