#include "sandbox/doors.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "sandbox/filter.hpp"

namespace gradlab::sandbox {
namespace {

void set_limit(decltype(RLIMIT_AS) which, rlim_t soft, rlim_t hard, const char* what) {
  rlimit limit{};
  getrlimit(which, &limit);
  // A hard limit can be lowered, not raised.
  limit.rlim_max = std::min(hard, limit.rlim_max);
  limit.rlim_cur = std::min(soft, limit.rlim_max);
  if (setrlimit(which, &limit) != 0) throw std::system_error(errno, std::generic_category(), what);
}

void set_limit(decltype(RLIMIT_AS) which, rlim_t value, const char* what) {
  set_limit(which, value, value, what);
}

}  // namespace

void close_doors(const Limits& limits) {
  set_limit(RLIMIT_CORE, 0, "RLIMIT_CORE");
  set_limit(RLIMIT_AS, limits.address_space, "RLIMIT_AS");
  set_limit(RLIMIT_FSIZE, limits.file_size, "RLIMIT_FSIZE");
  set_limit(RLIMIT_NOFILE, static_cast<rlim_t>(limits.open_files), "RLIMIT_NOFILE");
  // At the soft limit comes SIGXCPU, which says why; SIGKILL ends what ignores it.
  const auto cpu = static_cast<rlim_t>(std::ceil(limits.cpu_seconds));
  set_limit(RLIMIT_CPU, cpu, cpu + 1, "RLIMIT_CPU");
  if (limits.processes > 0) {
    set_limit(RLIMIT_NPROC, static_cast<rlim_t>(limits.processes), "RLIMIT_NPROC");
  }
  // Not dumpable: no core file, and /proc/self is out of reach where one is mounted.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    throw std::system_error(errno, std::generic_category(), "prctl");
  }
  load_filter(Filter::kRunner);
}

}  // namespace gradlab::sandbox
