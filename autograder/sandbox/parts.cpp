#include "sandbox/parts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "sandbox/descriptor.hpp"
#include "sandbox/errors.hpp"

namespace gradlab::sandbox {

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

rlim_t allowed(int which, double wanted) {
  rlimit now{};
  getrlimit(static_cast<__rlimit_resource>(which), &now);
  return std::min(static_cast<rlim_t>(std::ceil(wanted)), now.rlim_max);
}

std::vector<Limit> compile_limits(const Limits& limits) {
  return {{RLIMIT_CORE, "core", 0},
          {RLIMIT_AS, "as", allowed(RLIMIT_AS, static_cast<double>(limits.address_space))},
          {RLIMIT_CPU, "cpu", allowed(RLIMIT_CPU, limits.cpu_seconds)},
          {RLIMIT_FSIZE, "fsize", allowed(RLIMIT_FSIZE, static_cast<double>(limits.file_size))},
          {RLIMIT_NOFILE, "nofile", allowed(RLIMIT_NOFILE, limits.open_files)}};
}

void give(const Mount& mount, uid_t uid) {
  const Descriptor folder(open(mount.host.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  // Readable for all: another box, under another uid, may read what this one wrote.
  if (!folder || fchown(folder.get(), uid, uid) != 0 || fchmod(folder.get(), 0755) != 0) {
    throw errors::system_call("giving away " + mount.host, errno);
  }
}

bool readable_by_all(const struct stat& found) {
  const mode_t needed = S_ISDIR(found.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
  return (found.st_mode & needed) == needed;
}

void check(const Command& command) {
  if (command.argv.empty()) throw errors::nothing_to_run();
  if (command.argv[0].front() != '/') throw errors::relative_path(command.argv[0]);
  for (const Mount& mount : command.mounts) {
    for (const std::string& path : {mount.host, mount.inside}) {
      if (path.empty() || path.front() != '/') throw errors::relative_path(path);
    }
    if (!exists(mount.host)) throw errors::missing_mount(mount.host);
  }
}

std::vector<std::string> environment_of(const Command& command, const std::string& path) {
  std::vector<std::string> all{"PATH=" + path};
  for (const auto& [name, value] : command.environment) {
    all.push_back(fmt::format("{}={}", name, value));
  }
  return all;
}

}  // namespace gradlab::sandbox
