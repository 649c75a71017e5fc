#include "drills/formulas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradlab::drills {

double norm_of(const std::vector<double>& gradient) {
  double sum = 0;
  for (const double g : gradient) sum += g * g;
  return std::sqrt(sum);
}

double clip_factor(double norm, double max_norm) { return std::min(1.0, max_norm / (norm + kEps)); }

std::vector<double> scaled_by(std::vector<double> gradient, double factor) {
  for (double& g : gradient) g *= factor;
  return gradient;
}

double as_half(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // value = m * 2^exponent, m in [0.5, 1)
  // 11 significant bits, and no bit below 2^-24.
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  const double rounded = std::nearbyint(value / unit) * unit;
  if (std::abs(rounded) <= kLargestHalf) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

void Scaler::update(bool found_inf) {
  if (found_inf) {
    scale *= backoff;
    tracker = 0;
    return;
  }
  if (++tracker != interval) return;
  tracker = 0;
  const double grown = scale * growth;
  if (grown <= std::numeric_limits<float>::max()) scale = grown;
}

int skips_until_it_fits(double gradient, Scaler& scaler) {
  int skips = 0;
  for (; !std::isfinite(as_half(gradient * scaler.scale)); ++skips) scaler.update(true);
  return skips;
}

double largest_scale(double gradient) {
  double scale = 1;
  while (std::isfinite(as_half(gradient * scale * 2))) scale *= 2;
  while (!std::isfinite(as_half(gradient * scale))) scale /= 2;
  return scale;
}

double smallest_scale(double gradient) {
  double scale = 1;
  while (as_half(gradient * scale) == 0) scale *= 2;
  while (as_half(gradient * scale / 2) != 0) scale /= 2;
  return scale;
}

}  // namespace gradlab::drills
