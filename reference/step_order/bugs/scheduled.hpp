// What the mistakes in scheduled_step are made of.
#pragma once

#include "common.hpp"

namespace gradlab::step_order_bugs {

// What follows a step, or a skip; says again which of them it was.
inline bool after(bool stepped, const Step& step, LRScheduler& schedule, Progress& progress) {
  if (stepped) {
    schedule.step();
    progress.follow(step.model);
  }
  return stepped;
}

}  // namespace gradlab::step_order_bugs
