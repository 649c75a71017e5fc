// How much of the gradients float16 loses at the scale in force.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "context.hpp"

namespace gradlab::monitor {

// Elements looked at, and of those the exact zeros and the ones that are subnormal in float16.
struct SmallElements {
  int64_t looked = 0;
  int64_t zeros = 0;
  int64_t subnormal = 0;

  double zero_share() const { return share(zeros); }
  double subnormal_share() const { return share(subnormal); }

 private:
  double share(int64_t count) const {
    return looked == 0 ? 0 : static_cast<double>(count) / static_cast<double>(looked);
  }
};

// Adds a sample of at most a few thousand evenly spread elements of the gradient, each multiplied
// by `factor`: the scale where the gradient is unscaled, else 1.
void count_small(const at::Tensor& gradient, double factor, SmallElements& into);

// One layer's episodes of underflow.
class UnderflowWatch {
 public:
  void look(const Context& context, const std::string& layer, const SmallElements& small,
            double scale);

 private:
  bool lost_ = false;
};

}  // namespace gradlab::monitor
