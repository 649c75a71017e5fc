#include "gradlab/amp/observer.hpp"

#include <atomic>

namespace gradlab::amp {
namespace {

std::atomic<Observer*> current{nullptr};

}  // namespace

Observer* set_observer(Observer* observer) noexcept {
  return current.exchange(observer, std::memory_order_acq_rel);
}

Observer* observer() noexcept { return current.load(std::memory_order_acquire); }

const char* name(Call call) noexcept {
  switch (call) {
    case Call::kScale:
      return "scale";
    case Call::kUnscale:
      return "unscale_";
    case Call::kStep:
      return "step";
    case Call::kUpdate:
      return "update";
    case Call::kGetTotalNorm:
      return "get_total_norm";
    case Call::kClipGradsWithNorm:
      return "clip_grads_with_norm_";
    case Call::kClipGradNorm:
      return "clip_grad_norm_";
    case Call::kClipGradValue:
      return "clip_grad_value_";
    case Call::kAutocast:
      return "autocast";
  }
  return "unknown";
}

}  // namespace gradlab::amp
