// No exception of a monitor leaves a running loop: it becomes an event.
#pragma once

#include <exception>
#include <string>

#include "monitor_impl.hpp"

namespace gradlab::monitor {

template <typename Body>
void Monitor::Impl::guarded(const Body& body) noexcept {
  std::string why;
  try {
    body();
    return;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "an exception that is no std::exception";
  }
  try {
    context().tell("monitor_error", Severity::kWarning, {{"error", why}});
    ++journal_.counts.errors;
  } catch (...) {
    ++journal_.counts.errors;  // no memory for the event either: only the count has it
  }
}

}  // namespace gradlab::monitor
