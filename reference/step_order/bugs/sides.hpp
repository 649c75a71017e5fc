// What the mistakes in two_optimizer_step are made of.
#pragma once

#include "common.hpp"

namespace gradlab::step_order_bugs {

inline void gradients_of_both(const Side& first, const Side& second, Scaler& scaler) {
  for (const Side* side : {&first, &second}) {
    side->optimizer.zero_grad();
    backward_of(*side, scaler);
  }
}

}  // namespace gradlab::step_order_bugs
