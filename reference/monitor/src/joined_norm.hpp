// Many norms as one, without a square that leaves the range of a double.
#pragma once

#include <cmath>

namespace gradlab::monitor {

// The norm of the vector of norms, which neither overflows nor vanishes in between.
class JoinedNorm {
 public:
  void add(double norm) {
    any = true;
    if (std::isfinite(norm)) {
      finite_ = std::hypot(finite_, norm);
    } else {
      other_ += std::abs(norm);  // NaN wins over inf
      nonfinite_ = true;
    }
  }
  double value() const { return nonfinite_ ? other_ : finite_; }

  bool any = false;

 private:
  double finite_ = 0, other_ = 0;
  bool nonfinite_ = false;
};

}  // namespace gradlab::monitor
