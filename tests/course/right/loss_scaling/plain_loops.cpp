// Bits and loops: no tensor operation but the cast to a flat list of doubles.
#include <cmath>
#include <limits>

#include "loss_scaling.hpp"

namespace loss_scaling {

static std::vector<double> elements(const torch::Tensor& t) {
  torch::Tensor flat = t.detach().to(torch::kDouble).flatten().contiguous();
  const double* data = flat.data_ptr<double>();
  return {data, data + flat.numel()};
}

void unscale_gradients(const std::vector<std::vector<torch::Tensor>>& groups, double scale,
                       bool& found_inf) {
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t p = 0; p < groups[g].size(); ++p) {
      torch::Tensor grad = groups[g][p].grad();
      if (!grad.defined()) continue;
      std::vector<double> values = elements(grad);
      for (double& v : values) {
        if (std::isnan(v) || std::isinf(v)) found_inf = true;
        v = v / scale;
      }
      torch::Tensor result = torch::empty(grad.sizes(), torch::kDouble);
      std::copy(values.begin(), values.end(), result.data_ptr<double>());
      grad.copy_(result);
    }
  }
}

void update_scale(LossScale& s, bool found_inf) {
  if (found_inf) {
    s.scale = float(s.scale * s.backoff_factor);
    s.growth_tracker = 0;
    return;
  }
  s.growth_tracker++;
  if (s.growth_tracker >= s.growth_interval) {
    const double bigger = s.scale * s.growth_factor;
    if (bigger <= std::numeric_limits<float>::max()) s.scale = float(bigger);
    s.growth_tracker = 0;
  }
}

int64_t count_underflow(const std::vector<torch::Tensor>& gradients, double scale) {
  int64_t lost = 0;
  const double border = std::ldexp(1.0, -25);
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    for (double v : elements(g)) {
      if (v != 0 && std::fabs(v) * scale <= border) lost++;
    }
  }
  return lost;
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  double smallest = 0, largest = 0;
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    for (double v : elements(g)) {
      v = std::fabs(v);
      if (v == 0) continue;
      if (smallest == 0 || v < smallest) smallest = v;
      if (v > largest) largest = v;
    }
  }
  if (smallest == 0) return 1;
  double scale = 1;
  const double border = std::ldexp(1.0, -25);
  while (smallest * scale <= border) scale *= 2;
  while (smallest * scale / 2 > border) scale /= 2;
  return largest * scale >= 65520 ? 0 : scale;
}

}  // namespace loss_scaling
