#include "sandbox/doors.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cmath>
#include <system_error>

#include "sandbox/filter.hpp"

namespace gradlab::sandbox {
namespace {

void set_limit(decltype(RLIMIT_AS) which, rlim_t value, const char* what) {
  rlimit limit{};
  getrlimit(which, &limit);
  // A hard limit can be lowered, not raised.
  limit.rlim_cur = limit.rlim_max = value < limit.rlim_max ? value : limit.rlim_max;
  if (setrlimit(which, &limit) != 0) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

void close_doors(const Limits& limits) {
  set_limit(RLIMIT_CORE, 0, "RLIMIT_CORE");
  set_limit(RLIMIT_AS, limits.address_space, "RLIMIT_AS");
  set_limit(RLIMIT_FSIZE, limits.file_size, "RLIMIT_FSIZE");
  set_limit(RLIMIT_NOFILE, static_cast<rlim_t>(limits.open_files), "RLIMIT_NOFILE");
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.cpu_seconds)), "RLIMIT_CPU");
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
