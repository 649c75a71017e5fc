#include "gradlab/amp/autocast.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

#include <exception>

#include "errors.hpp"
#include "words.hpp"

namespace gradlab::amp {
namespace {

namespace state = at::autocast;

std::string device_name(c10::DeviceType device) { return c10::DeviceTypeName(device, true); }

void check_dtype(c10::DeviceType device, c10::ScalarType dtype) {
  if (dtype == at::kHalf || dtype == at::kBFloat16) return;
  throw errors::autocast_dtype(device_name(device), words::dtype(dtype));
}

}  // namespace

AutocastGuard::AutocastGuard(c10::DeviceType device, std::optional<c10::ScalarType> dtype,
                             bool enabled, std::optional<bool> cache_enabled)
    : device_(device),
      enabled_(enabled),
      observer_(observer()),
      exceptions_(std::uncaught_exceptions()) {
  if (!state::is_autocast_available(device)) throw errors::autocast_device(device_name(device));
  if (enabled && device == at::kCUDA && !at::hasCUDA()) {
    throw errors::device_unavailable(device_name(device));
  }
  before_ = {state::is_autocast_enabled(device), state::get_autocast_dtype(device),
             state::is_autocast_cache_enabled()};
  dtype_ = dtype.value_or(before_.dtype);
  if (enabled) check_dtype(device, dtype_);

  if (state::increment_nesting() == 1 || dtype_ != before_.dtype) state::clear_cache();
  state::set_autocast_enabled(device, enabled);
  state::set_autocast_dtype(device, dtype_);
  state::set_autocast_cache_enabled(cache_enabled.value_or(before_.cache_enabled));
  if (observer_ != nullptr) observer_->begin(event());
}

AutocastGuard::~AutocastGuard() {
  if (observer_ != nullptr) observer_->end(event());
  if (state::decrement_nesting() == 0 || dtype_ != before_.dtype) state::clear_cache();
  state::set_autocast_enabled(device_, before_.enabled);
  state::set_autocast_dtype(device_, before_.dtype);
  state::set_autocast_cache_enabled(before_.cache_enabled);
}

Event AutocastGuard::event() const {
  Event event;
  event.call = Call::kAutocast;
  event.device = device_;
  event.dtype = dtype_;
  event.enabled = enabled_;
  event.depth = depth();
  event.failed = std::uncaught_exceptions() > exceptions_;
  return event;
}

int AutocastGuard::depth() noexcept {
  const int inside = state::increment_nesting();
  state::decrement_nesting();
  return inside - 1;
}

}  // namespace gradlab::amp
