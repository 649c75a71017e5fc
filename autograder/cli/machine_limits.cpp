#include "cli/machine_limits.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "cli/messages.hpp"

namespace gradlab::cli {
namespace {

constexpr rlim_t kMiB = 1024 * 1024;
constexpr rlim_t kOpenFiles = 256;
constexpr rlim_t kFileSize = 1024 * kMiB;  // a precompiled header

struct Needed {
  decltype(RLIMIT_AS) which;
  const char* what;
  const char* option;  // of the shell's ulimit
  rlim_t least;
  rlim_t unit;  // of ulimit
};

}  // namespace

void refuse_low_limits(const Manifest& lab) {
  const auto memory = std::max(lab.limits.memory_mib, lab.limits.compile_memory_mib);
  for (const Needed& needed :
       {Needed{RLIMIT_AS, "memory", "-v", static_cast<rlim_t>(memory) * kMiB, 1024},
        Needed{RLIMIT_CPU, "CPU time", "-t", RLIM_INFINITY, 1},
        Needed{RLIMIT_FSIZE, "the size of a file", "-f", kFileSize, 1024},
        Needed{RLIMIT_NOFILE, "open files", "-n", kOpenFiles, 1}}) {
    rlimit now{};
    getrlimit(needed.which, &now);
    if (now.rlim_cur >= needed.least) continue;
    // What may be raised is raised; only a hard limit needs the user.
    const rlimit raised{std::min(needed.least, now.rlim_max), now.rlim_max};
    if (now.rlim_max >= needed.least && setrlimit(needed.which, &raised) == 0) continue;
    const bool unlimited = needed.least == RLIM_INFINITY;
    throw messages::low_limit(needed.what, needed.option, now.rlim_max / needed.unit,
                              unlimited ? "unlimited" : std::to_string(needed.least / needed.unit));
  }
}

}  // namespace gradlab::cli
