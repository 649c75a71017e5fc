#include "errors.hpp"

#include <sstream>

#include "words.hpp"

namespace gradlab::amp::errors {
namespace {

// Numbers as a reader writes them: 0.5, 1e-06, inf.
std::string text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

Error with(ErrorKind kind, const std::string& what, const char* then) {
  return Error(kind, what + " " + then);
}

}  // namespace

std::string in_words(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  std::ostringstream out;
  out << words::dtype(tensor.scalar_type()) << " [";
  for (int64_t i = 0; i < tensor.dim(); ++i) out << (i == 0 ? "" : ", ") << tensor.size(i);
  out << "] on " << tensor.device();
  return out.str();
}

// ---- order of calls

Error unscale_twice() {
  return with(ErrorKind::kUnscaleTwice,
              "unscale_() has already been called on this optimizer since the last update().",
              "Call it once an optimizer and step, after the last backward.");
}

Error unscale_after_step() {
  return with(ErrorKind::kUnscaleAfterStep, "unscale_() is being called after step().",
              "Call it before step, or leave it out: step unscales by itself.");
}

Error step_twice() {
  return with(ErrorKind::kStepTwice, "step() has already been called since the last update().",
              "Call update once an iteration, after the steps of all optimizers.");
}

Error scale_not_initialised(const char* call) {
  return with(ErrorKind::kScaleNotInitialised,
              std::string("Attempted ") + call + " but the scale has not been used yet.",
              "Call backward on scaler.scale(loss), not on the loss.");
}

Error no_inf_checks_for_optimizer() {
  return with(ErrorKind::kNoInfChecksForOptimizer,
              "No inf checks were recorded for this optimizer.",
              "None of its parameters has a gradient: was backward called, and does the loss "
              "depend on them?");
}

Error no_inf_checks_before_update() {
  return with(ErrorKind::kNoInfChecksBeforeUpdate, "No inf checks were recorded prior to update.",
              "Call step or unscale_ of at least one optimizer that has gradients before update.");
}

Error closure_not_supported() {
  return with(ErrorKind::kClosureNotSupported,
              "Closure use is not currently supported if GradScaler is enabled.",
              "Compute the loss before step, or construct the scaler with enabled = false.");
}

// ---- gradients

Error undefined_tensor(const std::string& place) {
  return with(ErrorKind::kUndefinedTensor, place + " is an undefined tensor.",
              "Every entry must be a tensor; a parameter may lack a gradient.");
}

Error integer_gradient(const std::string& place, const at::Tensor& gradient) {
  return with(ErrorKind::kIntegerGradients, place + " is " + in_words(gradient) + ".",
              "It must be of a floating dtype.");
}

Error complex_gradient(const std::string& place, const at::Tensor& gradient) {
  return with(ErrorKind::kComplexGradients, place + " is " + in_words(gradient) + ".",
              "This call takes real floating dtypes only.");
}

Error float16_gradient(const std::string& place, const at::Tensor& gradient) {
  return with(ErrorKind::kFloat16Gradients,
              "Attempting to unscale FP16 gradients. " + place + " is " + in_words(gradient) + ".",
              "Keep parameters in float32 and let autocast lower the forward pass.");
}

Error unsupported_layout(const std::string& place, const at::Tensor& gradient) {
  return with(ErrorKind::kUnsupportedLayout,
              place + " is " + words::layout(gradient.layout()) + ", " + in_words(gradient) + ".",
              "This call takes no gradients of that layout.");
}

Error overlapping_memory(const std::string& place, const at::Tensor& gradient) {
  return with(ErrorKind::kOverlappingMemory,
              place + " (" + in_words(gradient) +
                  ") has more than one element that refers to a single memory location.",
              "Writing in place would count it several times: clone() it first.");
}

Error infinity_norm_of_empty(const std::string& place, double norm_type) {
  return with(ErrorKind::kInfinityNormOfEmpty,
              place + " has no element, and norm_type is " + text(norm_type) + ".",
              "The largest of no elements does not exist: leave that parameter out.");
}

Error repeated_tensor(const std::string& place, size_t first) {
  return with(ErrorKind::kRepeatedTensor,
              place + " is the same tensor as entry " + std::to_string(first) + ".",
              "It would be counted twice and scaled twice: list every parameter once.");
}

Error nonfinite_norm(double norm_type) {
  return with(ErrorKind::kNonfiniteNorm,
              "The total norm of order " + words::python_float(norm_type) +
                  " for gradients from `parameters` is non-finite, so it cannot be clipped.",
              "To scale the gradients by the non-finite norm anyway, set error_if_nonfinite = "
              "false; no gradient has changed.");
}

Error no_gradients(const char* call) {
  return with(ErrorKind::kNoGradients,
              std::string(call) + ": none of the parameters has a gradient.",
              "Call it after backward, with at least one parameter that has a gradient.");
}

}  // namespace gradlab::amp::errors
