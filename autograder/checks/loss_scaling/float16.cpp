#include "float16.hpp"

#include <bit>
#include <cmath>

namespace gradlab::loss_scaling_checks {
namespace {

constexpr uint16_t kInfinite = 0x7C00;
constexpr int kMantissa = 10;   // bits
constexpr int kSmallest = -24;  // the exponent of the smallest subnormal

// A float32's magnitude as whole * 2^exponent.
struct Magnitude {
  uint64_t whole;
  int exponent;
};

Magnitude magnitude_of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto fraction = bits & 0x7FFFFFu;
  const auto biased = static_cast<int>((bits >> 23) & 0xFFu);
  if (biased == 0) return {fraction, -149};
  return {fraction | 0x800000u, biased - 150};
}

// whole / 2^shift to the nearest whole number, ties to even.
uint64_t rounded(uint64_t whole, int shift) {
  if (shift > 32) return 0;  // whole has 24 bits: less than half a unit
  const uint64_t down = whole >> shift;
  const uint64_t rest = whole - (down << shift);
  const uint64_t half = uint64_t{1} << (shift - 1);
  return down + (rest > half || (rest == half && down % 2 == 1) ? 1 : 0);
}

template <typename Counts>
int64_t count(const std::vector<torch::Tensor>& gradients, Counts counts) {
  int64_t total = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    const auto flat = gradient.detach().contiguous();
    const float* values = flat.const_data_ptr<float>();
    for (int64_t i = 0; i < flat.numel(); ++i) total += counts(values[i]) ? 1 : 0;
  }
  return total;
}

}  // namespace

uint16_t float16_magnitude(float value, int exponent) {
  auto [whole, power] = magnitude_of(value);
  if (whole == 0) return 0;
  power += exponent;
  const int leading = power + static_cast<int>(std::bit_width(whole)) - 1;
  // The exponent of the last bit that a float16 of this size has.
  const int unit = std::max(leading - kMantissa, kSmallest);
  const int shift = unit - power;
  const uint64_t units = shift > 0 ? rounded(whole, shift) : whole << -shift;
  if (unit - kSmallest > 30) return kInfinite;
  // Subnormals hold their units as they are; each binade above adds 1 to the exponent field, and a
  // carry of the rounding goes there by itself.
  const uint64_t bits = (static_cast<uint64_t>(unit - kSmallest) << kMantissa) + units;
  return bits < kInfinite ? static_cast<uint16_t>(bits) : kInfinite;
}

int64_t count_lost(const std::vector<torch::Tensor>& gradients, int exponent) {
  return count(gradients, [exponent](float value) {
    return value != 0 && float16_magnitude(value, exponent) == 0;
  });
}

int64_t count_infinite(const std::vector<torch::Tensor>& gradients, int exponent) {
  return count(gradients,
               [exponent](float value) { return float16_magnitude(value, exponent) == kInfinite; });
}

double smallest_saving_scale(const std::vector<torch::Tensor>& gradients) {
  if (count(gradients, [](float value) { return value != 0; }) == 0) return 1;
  int exponent = -160;  // the largest float32 is lost at it
  while (count_lost(gradients, exponent) > 0) ++exponent;
  return count_infinite(gradients, exponent) > 0 ? 0 : std::ldexp(1.0, exponent);
}

}  // namespace gradlab::loss_scaling_checks
