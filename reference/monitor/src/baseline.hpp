// The running mean and variance that a norm or a loss is compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gradlab::monitor {

// The plain mean and variance of the first 1/floor values, then an exponential average.
// SOURCE: ormas-monitor 0.2.3, a Python package
struct Baseline {
  double mean = 0;
  double var = 0;
  int64_t n = 0;

  void update(double x, double rate_floor) {
    const double rate = std::max(rate_floor, 1.0 / static_cast<double>(n + 1));
    const double d = x - mean;
    mean += rate * d;
    var = (1 - rate) * (var + rate * d * d);
    ++n;
  }
  double deviation() const { return std::sqrt(var); }
};

}  // namespace gradlab::monitor
