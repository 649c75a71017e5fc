// The event of a clipping call.
#pragma once

#include <utility>

#include "gradlab/amp/observer.hpp"

namespace gradlab::amp {

inline Event clip_event(Call call, at::TensorList tensors, double limit = 0, at::Tensor norm = {}) {
  Event event;
  event.call = call;
  event.tensors = tensors;
  event.limit = limit;
  event.total_norm = std::move(norm);
  return event;
}

}  // namespace gradlab::amp
