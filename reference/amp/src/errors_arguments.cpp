// The wordings about arguments, state and the opt-in stops; errors.cpp has those about gradients.
#include <sstream>

#include "errors.hpp"

namespace gradlab::amp::errors {
namespace {

template <typename T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

Error argument(ErrorKind kind, const char* what, const std::string& was, const char* may_be) {
  return Error(kind, std::string(what) + " was " + was + "; it must be " + may_be + ".");
}

}  // namespace

Error bad_max_norm(double max_norm) {
  return argument(ErrorKind::kBadMaxNorm, "max_norm", text(max_norm),
                  "0 or more with ClipOptions::strict (0 makes every gradient zero)");
}

Error bad_total_norm(const at::Tensor& total_norm) {
  return argument(ErrorKind::kBadTotalNorm, "total_norm", in_words(total_norm),
                  "one real floating element, as get_total_norm returns it");
}

Error bad_growth_factor(double value) {
  return Error(
      ErrorKind::kBadGrowthFactor,
      "The growth factor must be > 1.0 and finite; growth_factor was " + text(value) + ".");
}

Error bad_backoff_factor(double value) {
  return Error(ErrorKind::kBadBackoffFactor,
               "The backoff factor must be < 1.0 and > 0; backoff_factor was " + text(value) + ".");
}

Error bad_init_scale(double value) {
  return argument(ErrorKind::kBadInitScale, "init_scale", text(value),
                  "positive and finite as a float32; powers of two lose no bits, such as 65536");
}

Error bad_growth_interval(int64_t value) {
  return argument(ErrorKind::kBadGrowthInterval, "growth_interval", text(value),
                  "from 0 to 2147483647 steps (0 never grows)");
}

Error bad_option(const char* option, double was, const char* may_be) {
  return argument(ErrorKind::kBadOption, option, text(was), may_be);
}

Error bad_new_scale(double value) {
  return argument(ErrorKind::kBadNewScale, "new_scale", text(value),
                  "positive and finite with GradScalerOptions::strict");
}

Error bad_new_scale(const at::Tensor& value) {
  return Error(ErrorKind::kBadNewScale,
               "new_scale should be a double, or a tensor of 1 element on the scale's kind of "
               "device that does not require grad; it was " +
                   in_words(value) +
                   (value.defined() && value.requires_grad() ? " that requires grad." : "."));
}

Error new_scale_shape(const at::Tensor& value) {
  return Error(ErrorKind::kBroadcast, "new_scale was " + in_words(value) +
                                          "; it must be 0-dim: a shape of [1] does not fit the "
                                          "scale, whose shape is []. Call squeeze() on it.");
}

Error bad_scale_argument(const std::string& was) {
  return Error(ErrorKind::kBadScaleArgument,
               "scale: outputs must be a tensor or a list of tensors; " + was + ".");
}

Error wrong_device(const char* what, const std::string& was, const std::string& may_be) {
  return Error(ErrorKind::kWrongDevice, std::string(what) + " was on " + was + "; it must be on " +
                                            may_be + ", the device that this scaler was made for.");
}

Error device_unavailable(const std::string& device) {
  return Error(ErrorKind::kWrongDevice,
               "device was " + device +
                   ", which this LibTorch or machine does not have. Choose "
                   "another, or pass enabled = false where it is missing.");
}

Error empty_state() {
  return Error(
      ErrorKind::kEmptyState,
      "The source state is empty, possibly because it was saved from a disabled GradScaler. "
      "Load it into a disabled one, or keep a new scaler as it is.");
}

Error missing_key(const std::string& key) {
  return Error(ErrorKind::kMissingKey, "The state has no \"" + key +
                                           "\". It was not saved by a GradScaler, or only in part; "
                                           "nothing was loaded.");
}

Error bad_state_value(const std::string& key, double was, const char* may_be) {
  return Error(ErrorKind::kBadState, "The state's \"" + key + "\" was " + text(was) +
                                         "; it must be " + may_be + ". Nothing was loaded.");
}

Error bad_state_type(const std::string& key, const std::string& was) {
  return Error(ErrorKind::kBadState, "The state's \"" + key + "\" was " + was +
                                         "; it must be a number. Nothing was loaded.");
}

Error malformed_state(const std::string& why) {
  return Error(ErrorKind::kBadState,
               "The state cannot be read: " + why + ". Nothing was loaded; is the file whole?");
}

Error autocast_device(const std::string& device) {
  return Error(ErrorKind::kAutocastDevice,
               "AutocastGuard: device was " + device +
                   ", for which LibTorch has no autocast. It may "
                   "be cpu, cuda, xpu, mps or another device that has one.");
}

Error autocast_dtype(const std::string& device, const std::string& dtype) {
  return Error(ErrorKind::kAutocastDtype,
               "AutocastGuard: dtype was " + dtype + "; on " + device +
                   " it may be float16 or "
                   "bfloat16. To compute in float32, pass enabled = false.");
}

Error scale_at_minimum(double scale) {
  return Error(
      ErrorKind::kScaleAtMinimum,
      "The loss scale is at its minimum, " + text(scale) +
          ", and gradients overflowed "
          "again. The step was skipped. The overflow is not the scale's: look at the loss, the "
          "data and the learning rate.");
}

Error too_many_skips(int64_t skips, double scale) {
  return Error(ErrorKind::kTooManySkips,
               text(skips) +
                   " updates in a row found inf or NaN and skipped their step; the scale "
                   "is " +
                   text(scale) + ". Look at the loss, the data and the learning rate.");
}

}  // namespace gradlab::amp::errors
