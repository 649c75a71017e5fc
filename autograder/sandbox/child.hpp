// The step between fork and exec: signal-safe calls only, because the caller has threads. What
// fails travels through a pipe, as numbers.
#pragma once

#include <array>
#include <vector>

#include "sandbox/launch.hpp"

namespace gradlab::sandbox {

inline constexpr int kError = 6;  // tells the parent why there was no exec; closed by exec

enum class Step : int {
  kNone,
  kDescriptors,
  kKeeper,
  kNamespace,
  kPrivate,
  kStaging,
  kPlace,
  kBind,
  kUid,
  kLimit,
  kDirectory,
  kCloseIn,
  kExec
};
struct Failure {
  Step step = Step::kNone;
  int error = 0;
  int stage = -1;
};

// The plan in the form that system calls take.
struct Prepared {
  const Launch* plan;
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::array<int, 7> descriptors;  // by number in the child; -1: closed
  pid_t parent;
};

// Runs the program; with isolation container below a keeper, which this process becomes.
[[noreturn]] void run_child(const Prepared& prepared);

}  // namespace gradlab::sandbox
