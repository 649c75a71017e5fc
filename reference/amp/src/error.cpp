#include "gradlab/amp/error.hpp"

namespace gradlab::amp {

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(message), kind_(kind) {}

const char* name(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kUnscaleTwice:
      return "unscale_twice";
    case ErrorKind::kUnscaleAfterStep:
      return "unscale_after_step";
    case ErrorKind::kStepTwice:
      return "step_twice";
    case ErrorKind::kScaleNotInitialised:
      return "scale_not_initialised";
    case ErrorKind::kNoInfChecksForOptimizer:
      return "no_inf_checks_for_optimizer";
    case ErrorKind::kNoInfChecksBeforeUpdate:
      return "no_inf_checks_before_update";
    case ErrorKind::kClosureNotSupported:
      return "closure_not_supported";
    case ErrorKind::kBadGrowthFactor:
      return "bad_growth_factor";
    case ErrorKind::kBadBackoffFactor:
      return "bad_backoff_factor";
    case ErrorKind::kBadNewScale:
      return "bad_new_scale";
    case ErrorKind::kBadScaleArgument:
      return "bad_scale_argument";
    case ErrorKind::kBroadcast:
      return "broadcast";
    case ErrorKind::kEmptyState:
      return "empty_state";
    case ErrorKind::kMissingKey:
      return "missing_key";
    case ErrorKind::kFloat16Gradients:
      return "fp16_gradients";
    case ErrorKind::kIntegerGradients:
      return "integer_gradients";
    case ErrorKind::kOverlappingMemory:
      return "overlapping_memory";
    case ErrorKind::kInfinityNormOfEmpty:
      return "infinity_norm_of_empty";
    case ErrorKind::kNonfiniteNorm:
      return "nonfinite_norm";
    case ErrorKind::kNoGradients:
      return "no_gradients";
    case ErrorKind::kUnsupportedLayout:
      return "unsupported_layout";
    case ErrorKind::kUndefinedTensor:
      return "undefined_tensor";
    case ErrorKind::kComplexGradients:
      return "complex_gradients";
    case ErrorKind::kBadInitScale:
      return "bad_init_scale";
    case ErrorKind::kBadGrowthInterval:
      return "bad_growth_interval";
    case ErrorKind::kBadMaxNorm:
      return "bad_max_norm";
    case ErrorKind::kBadTotalNorm:
      return "bad_total_norm";
    case ErrorKind::kBadOption:
      return "bad_option";
    case ErrorKind::kBadState:
      return "bad_state";
    case ErrorKind::kRepeatedTensor:
      return "repeated_tensor";
    case ErrorKind::kWrongDevice:
      return "wrong_device";
    case ErrorKind::kAutocastDevice:
      return "autocast_device";
    case ErrorKind::kAutocastDtype:
      return "autocast_dtype";
    case ErrorKind::kScaleAtMinimum:
      return "scale_at_minimum";
    case ErrorKind::kTooManySkips:
      return "too_many_skips";
  }
  return "unknown";
}

}  // namespace gradlab::amp
