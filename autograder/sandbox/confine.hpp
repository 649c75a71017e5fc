// What isolation container does to the child before exec: a uid of its own, no privileges, Landlock
// and the system-call filter. Signal-safe. Each step answers false, with errno, when it failed;
// then nothing may be started.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace gradlab::sandbox {

// Of this process, all that it has.
bool drop_capabilities();

// As root: no capability of any set remains, none can be had back, no group but its own.
bool become_nobody(uid_t uid);

// Afterwards: nothing gives privileges any more; files by the ruleset; calls by the filter, which
// is `size` bytes of the kernel's program.
bool close_in(int ruleset, const char* filter, std::size_t size);

}  // namespace gradlab::sandbox
