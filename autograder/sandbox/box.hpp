// From a Command to the Launch that runs it: bubblewrap's arguments, the mounts in their order, the
// uid.
#pragma once

#include <string>

#include "sandbox/launch.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab::sandbox {

// What this process may do to hide files behind another uid.
enum class Privilege {
  kOrdinary,  // bubblewrap runs under our own uid
  kRoot,      // RLIMIT_NPROC is void for root, and an ordinary uid may not see our files: they are
              // mounted where it can, then the uid is dropped
  kRootNoMount  // root in a container that may not mount: the uid is dropped, no more
};
Privilege privilege();

// Throws SandboxError kNotOffered, kNoBubblewrap, kBadCommand.
Launch plan(const Command& command, Isolation isolation, bool channel);

}  // namespace gradlab::sandbox
