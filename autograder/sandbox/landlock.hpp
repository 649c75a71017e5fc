// Landlock, by system call: which files a process and all it starts may open from now on. What no
// opening names is refused, whatever its mode; looking whether a file exists is not.
#pragma once

#include <string>
#include <vector>

#include "sandbox/descriptor.hpp"

namespace gradlab::sandbox {

// The version that this kernel speaks; 0 where it has none, or where it is switched off.
int landlock_abi();

enum class Reach {
  kRead,    // a file, or a folder and all below: read and execute
  kWrite,   // a folder and all below: read, write, make, remove; nothing in it can be executed
  kDevice,  // one file: read and write
};
struct Opening {
  std::string path;
  Reach reach = Reach::kRead;
};

// The rules, to be entered between fork and exec. It forbids, too, where the kernel knows how: TCP
// (version 4), and signals and abstract Unix sockets to the outside (6). Throws SandboxError
// kStart.
// `abi`: the version to speak, no newer than the kernel's.
Descriptor landlock_ruleset(const std::vector<Opening>& openings, int abi = landlock_abi());

// For good, for this thread. NO_NEW_PRIVS has to be set. Safe between fork and exec; errno tells.
bool landlock_enter(int ruleset);

}  // namespace gradlab::sandbox
