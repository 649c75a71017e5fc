// The last step of a runner before it opens a student's file: limits and the second filter. From
// here on the process, and all it forks, can start no program and use no network. Links libseccomp
// only.
#pragma once

#include "sandbox/limits.hpp"

namespace gradlab::sandbox {

// Sets RLIMIT_AS, CPU, FSIZE, CORE 0, NPROC, NOFILE for this process and what it forks, makes it
// not dumpable, sets NO_NEW_PRIVS and loads the filter: the sandbox's, and no execve.
// limits.processes counts in the sandbox's own user namespace; with isolation none give 0, since
// there the kernel would count all processes of the user. Throws std::system_error.
void close_doors(const Limits& limits);

}  // namespace gradlab::sandbox
