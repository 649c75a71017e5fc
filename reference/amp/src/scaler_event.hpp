// The event of a scaler's call.
#pragma once

#include "gradlab/amp/observer.hpp"

namespace gradlab::amp {

inline Event scaler_event(Call call, const GradScaler& scaler,
                          const torch::optim::Optimizer* optimizer = nullptr,
                          at::TensorList tensors = {}) {
  Event event;
  event.call = call;
  event.scaler = &scaler;
  event.optimizer = optimizer;
  event.tensors = tensors;
  return event;
}

}  // namespace gradlab::amp
