// The bodies that kernels.cpp compiles for each instruction set. Written as arrays of lanes, so
// that a compiler vectorises a sum without being allowed to reorder it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "attributes.hpp"
#include "kernels.hpp"

namespace gradlab::amp::loops {

constexpr int64_t kLanes = 64;
constexpr int64_t kFold = 2048;    // a lane adds 32 squares in float32, then goes into the double
constexpr int64_t kBlock = 16384;  // elements whose sum is looked at together
// Below this, squares of single elements may have been lost as subnormals.
constexpr double kTiny = 1e-27;
// A factor in float32 keeps all its bits above this.
constexpr double kSmallFactor = std::numeric_limits<float>::min();

// bfloat16 as the float32 that it is; the others as they are.
GRADLAB_AMP_INLINE double as_float(double value) { return value; }
GRADLAB_AMP_INLINE float as_float(float value) { return value; }
GRADLAB_AMP_INLINE float as_float(BFloat16Bits bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

GRADLAB_AMP_INLINE void store(float& place, float value) { place = value; }
GRADLAB_AMP_INLINE void store(BFloat16Bits& place, float value) {
  uint32_t wide;
  std::memcpy(&wide, &value, sizeof wide);
  const uint32_t rounded =
      (wide + 0x7fffU + ((wide >> 16) & 1U)) >> 16;  // to nearest, ties to even
  place = static_cast<BFloat16Bits>(value == value ? rounded : 0x7fc0U);
}

// The sum of squares in kCount lanes of Lane, added up in double. `count` is a multiple of kCount.
template <typename Lane, int64_t kCount, typename T>
GRADLAB_AMP_INLINE double squares_in_lanes(const T* data, int64_t count) {
  double parts[8] = {};
  while (count > 0) {
    const int64_t size = count < kFold ? count : kFold;
    Lane lanes[kCount] = {};
    for (int64_t i = 0; i < size; i += kCount) {
      for (int64_t lane = 0; lane < kCount; ++lane) {
        const Lane value = as_float(data[i + lane]);
        lanes[lane] += value * value;
      }
    }
    // In rows of eight, so that this is vectorised too.
    for (int64_t row = 0; row < kCount; row += 8) {
      for (int64_t part = 0; part < 8; ++part) {
        parts[part] += static_cast<double>(lanes[row + part]);
      }
    }
    data += size;
    count -= size;
  }
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

// What is left over behind the lanes.
template <typename T>
GRADLAB_AMP_INLINE double squares_one_by_one(const T* data, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = as_float(data[i]);
    sum += value * value;
  }
  return sum;
}

// float32 and bfloat16. A double holds the square of every float32, so that only an inf or NaN
// among the elements makes the sum inf or NaN.
template <typename T>
GRADLAB_AMP_INLINE Measured measure(const T* data, int64_t count) {
  Measured measured;
  while (count >= kLanes) {
    const int64_t size = count < kBlock ? count - count % kLanes : kBlock;
    double sum = squares_in_lanes<float, kLanes>(data, size);
    if (!(sum >= kTiny && sum <= std::numeric_limits<float>::max())) {
      sum = squares_in_lanes<double, kLanes / 2>(data, size);
    }
    measured.squares += sum;
    data += size;
    count -= size;
  }
  measured.squares += squares_one_by_one(data, count);
  measured.finite = std::isfinite(measured.squares);
  return measured;
}

// float64: squares may overflow, as PyTorch's do; then the elements are looked at.
GRADLAB_AMP_INLINE Measured measure(const double* data, int64_t count) {
  const int64_t whole = count - count % (kLanes / 2);
  Measured measured;
  measured.squares = squares_in_lanes<double, kLanes / 2>(data, whole) +
                     squares_one_by_one(data + whole, count - whole);
  if (!std::isfinite(measured.squares)) {
    for (int64_t i = 0; i < count; ++i) measured.finite = measured.finite && std::isfinite(data[i]);
  }
  return measured;
}

template <typename T>
GRADLAB_AMP_INLINE void multiply(T* data, int64_t count, double factor) {
  const double magnitude = std::abs(factor);
  const bool fits = magnitude == 0 ||
                    (magnitude >= kSmallFactor && magnitude <= std::numeric_limits<float>::max());
  if (!fits && std::isfinite(factor)) {
    for (int64_t i = 0; i < count; ++i) {
      store(data[i], static_cast<float>(static_cast<double>(as_float(data[i])) * factor));
    }
    return;
  }
  const float narrow = static_cast<float>(factor);
  for (int64_t i = 0; i < count; ++i) store(data[i], as_float(data[i]) * narrow);
}

GRADLAB_AMP_INLINE void multiply(double* data, int64_t count, double factor) {
  for (int64_t i = 0; i < count; ++i) data[i] *= factor;
}

}  // namespace gradlab::amp::loops
