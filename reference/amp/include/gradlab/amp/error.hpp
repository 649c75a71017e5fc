// What the library throws: one type, a kind to branch on, a message for people.
#pragma once

#include <stdexcept>
#include <string>

namespace gradlab::amp {

// Python raises RuntimeError, ValueError, AssertionError or KeyError here; one type with a kind
// serves C++ better. Kinds above the line are Python's own errors, below it this library's.
enum class ErrorKind {
  // ---- order of calls
  kUnscaleTwice,
  kUnscaleAfterStep,
  kStepTwice,
  kScaleNotInitialised,
  kNoInfChecksForOptimizer,
  kNoInfChecksBeforeUpdate,
  kClosureNotSupported,
  // ---- arguments and state
  kBadGrowthFactor,
  kBadBackoffFactor,
  kBadNewScale,
  kBadScaleArgument,
  kBroadcast,
  kEmptyState,
  kMissingKey,
  // ---- gradients
  kFloat16Gradients,
  kIntegerGradients,
  kOverlappingMemory,
  kInfinityNormOfEmpty,
  kNonfiniteNorm,
  kNoGradients,
  kUnsupportedLayout,
  // ------------------------------------------------------------------------
  kUndefinedTensor,
  kComplexGradients,
  kBadInitScale,
  kBadGrowthInterval,
  kBadMaxNorm,
  kBadTotalNorm,
  kBadOption,
  kBadState,
  kRepeatedTensor,
  kWrongDevice,
  kAutocastDevice,
  kAutocastDtype,
  kScaleAtMinimum,
  kTooManySkips,
};

// The kind as a word, such as "unscale_twice".
const char* name(ErrorKind kind) noexcept;

// ENSURES, wherever this is thrown: gradients, scale, tracker and stages are what they were before
// the call, unless the declaration says otherwise.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message);
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace gradlab::amp
