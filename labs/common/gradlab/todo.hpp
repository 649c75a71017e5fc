// What an unwritten task does: gradlab::todo("clipping.2", …) says so instead of returning a value,
// so that nothing passes by luck. Replace the whole line by your own code.
#pragma once

#include <string>

namespace gradlab {

// Thrown by todo(), and by a call of a function that the hand-in does not define.
// Not a std::exception: code that catches those does not swallow it.
struct NotStarted {
  std::string task;  // the label of the task, such as "clipping.2"
};

namespace detail {
struct AnyValue {
  // Never called: todo() throws first. Defined, since without optimisation it is linked all the
  // same.
  template <typename T>
  operator T() const {
    throw NotStarted{};
  }
};
}  // namespace detail

// `unused` keeps the compiler from warning about parameters that the task has not used yet.
template <typename... Unused>
[[noreturn]] detail::AnyValue todo(const char* task, const Unused&... unused) {
  (static_cast<void>(unused), ...);
  throw NotStarted{task};
}

}  // namespace gradlab
