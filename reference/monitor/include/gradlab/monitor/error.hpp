// What construction and a wrong state throw: one type, a kind to branch on, a message for people. A
// running loop is never left by an exception of the monitor: what goes wrong there is an event.
#pragma once

#include <stdexcept>
#include <string>

namespace gradlab::monitor {

enum class ErrorKind {
  kNoParameters,
  kScalerWithoutOptimizer,
  kNullOptimizer,
  kBadOption,
  kNoLayerMatches,
  kRecordExists,
  kRecordNotWritable,
  kBadState,
};

// The kind as a word, such as "bad_option".
const char* name(ErrorKind kind) noexcept;

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message);
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace gradlab::monitor
