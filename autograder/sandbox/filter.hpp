// The seccomp filter. A deny list: LibTorch and a compiler use too many calls, and too many that
// change from release to release, for an allow list to last. A denied call fails with an error; it
// does not kill.
#pragma once

#include <string>

namespace gradlab::sandbox {

enum class Filter {
  kBox,     // of everything in a box; bubblewrap still has to start the program under it
  kRunner,  // the same, and no program can be started
};

// The filter as the kernel's program, for bwrap --seccomp. Throws std::system_error.
std::string filter_program(Filter filter);

// Loads it into this process, all its threads, for good. Sets NO_NEW_PRIVS. Throws
// std::system_error.
void load_filter(Filter filter);

}  // namespace gradlab::sandbox
