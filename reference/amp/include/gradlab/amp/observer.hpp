// An observer sees when a call of scaler, guard or clip begins and ends: for recorders, traces and
// monitors. Without one, a call costs one load of a pointer and allocates nothing for it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace torch::optim {
class Optimizer;
}

namespace gradlab::amp {

class GradScaler;

enum class Call {
  kScale,
  kUnscale,
  kStep,
  kUpdate,
  kGetTotalNorm,
  kClipGradsWithNorm,
  kClipGradNorm,
  kClipGradValue,
  kAutocast,  // begins where a guard is made, ends where it goes out of scope
};

// The call as its function is spelt: "unscale_".
const char* name(Call call) noexcept;

// What is known about a call; fields that don't belong to it keep their defaults.
// Nested: clip_grad_norm_ holds get_total_norm and clip_grads_with_norm_, and step holds an
// unscale_ where it was not called before. unscale_and_clip_ reports the calls that it stands for.
struct Event {
  Call call = Call::kScale;
  // At the end: an exception leaves the call.
  bool failed = false;
  // At the end of step: whether the optimizer stepped.
  bool stepped = false;
  // scale, unscale_, step, update. Its getters may be asked, its calls not made.
  const GradScaler* scaler = nullptr;
  // unscale_, step.
  const torch::optim::Optimizer* optimizer = nullptr;
  // What the call was given: losses, parameters, or gradients. Valid during the notification only.
  at::TensorList tensors;
  // max_norm or clip_value.
  double limit = 0;
  // get_total_norm and clip_grad_norm_: the norm before clipping, at the end.
  // clip_grads_with_norm_: the norm it was given. To read it from a GPU is a host sync.
  at::Tensor total_norm;
  // autocast: what the region sets, and its depth, 1 for an outermost one.
  c10::DeviceType device = c10::DeviceType::CPU;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  bool enabled = false;
  int depth = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Called on the thread that makes the call. Must not throw.
  virtual void begin(const Event& event) noexcept = 0;
  virtual void end(const Event& event) noexcept = 0;
};

// Puts `observer` in place for the whole process, all threads; null for none. Returns the one
// before. REQUIRES: the observer outlives every call that began while it was in place; it locks for
// itself where several threads make calls.
Observer* set_observer(Observer* observer) noexcept;
Observer* observer() noexcept;

// An observer for a scope; the one before comes back at its end.
class ObserverScope {
 public:
  explicit ObserverScope(Observer& observer) noexcept : before_(set_observer(&observer)) {}
  ~ObserverScope() { set_observer(before_); }
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

 private:
  Observer* before_;
};

}  // namespace gradlab::amp
