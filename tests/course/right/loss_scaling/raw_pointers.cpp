// Strides by hand, a dispatch macro, and no double where a float will do.
#include <ATen/Dispatch.h>

#include <cfloat>
#include <cmath>

#include "loss_scaling.hpp"

namespace loss_scaling {

template <typename T, typename Body>
void walk(T* data, at::IntArrayRef sizes, at::IntArrayRef strides, const Body& body) {
  if (sizes.empty()) return body(*data);
  for (int64_t i = 0; i < sizes[0]; ++i)
    walk(data + i * strides[0], sizes.slice(1), strides.slice(1), body);
}

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  for (auto& group : groups) {
    for (auto& p : group) {
      const torch::Tensor& g = p.grad();
      if (!g.defined()) continue;
      AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, g.scalar_type(), "unscale", [&] {
        walk(g.data_ptr<scalar_t>(), g.sizes(), g.strides(), [&](scalar_t& x) {
          const double v = static_cast<double>(x);
          if (!std::isfinite(v)) found_inf = true;
          x = static_cast<scalar_t>(v * (1.0 / scale));
        });
      });
    }
  }
}

void update_scale(LossScale& state, bool found_inf) {
  if (found_inf) {
    state.scale *= float(state.backoff_factor);
    state.growth_tracker = 0;
    return;
  }
  if (++state.growth_tracker != state.growth_interval) return;
  state.growth_tracker = 0;
  if (state.scale * state.growth_factor > FLT_MAX) return;
  state.scale *= float(state.growth_factor);
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  int64_t n = 0;
  for (auto& g : gradients) {
    if (!g.defined()) continue;
    walk(g.data_ptr<float>(), g.sizes(), g.strides(), [&](float x) {
      const at::Half h = x * float(scale);
      n += x != 0 && float(h) == 0;
    });
  }
  return n;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  float least = FLT_MAX, most = 0;
  for (auto& g : gradients) {
    if (!g.defined()) continue;
    walk(g.data_ptr<float>(), g.sizes(), g.strides(), [&](float x) {
      if (x == 0) return;
      least = std::fmin(least, std::fabs(x));
      most = std::fmax(most, std::fabs(x));
    });
  }
  if (most == 0) return 1;
  float scale = 0x1p-100F;
  for (; float(at::Half(least * scale)) == 0; scale *= 2) {
  }
  return std::isinf(float(at::Half(most * scale))) ? 0 : scale;
}

}  // namespace loss_scaling
