#include "errors.hpp"

namespace gradlab::monitor {

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(message), kind_(kind) {}

const char* name(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kNoParameters:
      return "no_parameters";
    case ErrorKind::kScalerWithoutOptimizer:
      return "scaler_without_optimizer";
    case ErrorKind::kNullOptimizer:
      return "null_optimizer";
    case ErrorKind::kBadOption:
      return "bad_option";
    case ErrorKind::kNoLayerMatches:
      return "no_layer_matches";
    case ErrorKind::kRecordExists:
      return "record_exists";
    case ErrorKind::kRecordNotWritable:
      return "record_not_writable";
    case ErrorKind::kBadState:
      return "bad_state";
  }
  return "unknown";
}

}  // namespace gradlab::monitor

namespace gradlab::monitor::errors {

Error no_parameters() {
  return {ErrorKind::kNoParameters,
          "The model has no parameter that requires a gradient, so there is nothing to watch. "
          "Register its parameters, or pass a list of layers, before the monitor is made."};
}

Error undefined_parameter(const std::string& name) {
  return {ErrorKind::kNoParameters, "Parameter '" + name +
                                        "' is an undefined tensor. Give the monitor the tensors "
                                        "that the optimizer steps."};
}

Error scaler_without_optimizer() {
  return {ErrorKind::kScalerWithoutOptimizer,
          "A scaler was given without an optimizer. Pass the optimizer too: the scaler knows for "
          "each of them whether its gradients are unscaled."};
}

Error null_optimizer(size_t index) {
  return {ErrorKind::kNullOptimizer, "Optimizer " + std::to_string(index) +
                                         " is a null pointer. Pass the optimizers' addresses."};
}

Error bad_option(const char* option, const std::string& was, const char* may_be) {
  return {ErrorKind::kBadOption,
          std::string("Options::") + option + " is " + was + ". It may be " + may_be + "."};
}

Error no_layer_matches(const std::string& pattern, const std::string& first_layer) {
  return {ErrorKind::kNoLayerMatches, "Options::layers: no layer's name matches '" + pattern +
                                          "'. Names are case-sensitive; the first one is '" +
                                          first_layer + "'."};
}

Error record_exists(const std::string& path) {
  return {ErrorKind::kRecordExists, path +
                                        " is there already and not empty. Choose another path, or "
                                        "FileMode::kAppend or kOverwrite."};
}

Error record_not_writable(const std::string& path, const std::string& why) {
  return {ErrorKind::kRecordNotWritable,
          path + " cannot be written: " + why + ". Choose a file in a folder that exists."};
}

Error bad_state(const std::string& why) {
  return {ErrorKind::kBadState, "This is no state of a monitor: " + why +
                                    ". Nothing was changed; load what state() gave."};
}

}  // namespace gradlab::monitor::errors

namespace gradlab::monitor::messages {

const char* const kLateAfterStep =
    "step() came after scaler.step(), which unscales gradients; the check was left out. Call it "
    "after backward (and unscale_), before scaler.step().";
const char* const kLateAfterUpdate =
    "step() came after scaler.update(): the scale in force is no longer that of the gradients; the "
    "check was left out. Call it after backward (and unscale_), before scaler.step().";
const char* const kBadScale =
    "The loss scale is not a positive finite number, so no gradient is usable. Make a new scaler "
    "or set the scale with update(65536).";
const char* const kSkipStreak =
    "Step after step is skipped. If the scale is still far above 1 it is being searched; if not, "
    "the loss or the data is not finite.";
const char* const kScaleAtFloor =
    "Gradients overflow though the scale is at its floor: the scale is not the cause. Look for inf "
    "or NaN in the loss, the batch and the first layer named.";
const char* const kUnderflow =
    "Most of this layer's gradients are zero or subnormal in float16 at this scale. If the scale "
    "is low because of overflows elsewhere, keep that part in float32.";
const char* const kNoGradients =
    "No layer has a gradient. Call step() after backward and before zero_grad.";
const char* const kMissingGradient =
    "The layer's gradients are missing, not zero: it took no part in the loss.";
const char* const kLossWasScaled =
    "The loss handed in was already multiplied by the scale; it was divided again. Hand in the "
    "loss itself.";
const char* const kClippedBefore =
    "Gradients were clipped before the check; the norms are those before clipping.";
const char* const kStepAfterClose = "step() was called after close(); nothing is looked at.";
const char* const kSinkDropped = "A callback threw and is not called again.";
const char* const kRecordStopped = "The record cannot be written any more; it ends here.";
const char* const kSkippedLate =
    "The optimizer did not step. No check saw why: gradients changed after it, or it was left out.";

const char* const kUnknownOptimizer =
    "An optimizer that the monitor does not know unscales parameters that it watches, so their "
    "norms "
    "are divided by the scale once too often. Pass all optimizers to the Monitor.";

std::string complex_loss() {
  return "The loss is complex and has no order; it was left out. Hand in a real loss.";
}

}  // namespace gradlab::monitor::messages
