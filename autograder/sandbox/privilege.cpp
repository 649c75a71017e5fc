#include "sandbox/privilege.hpp"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>

#include "sandbox/errors.hpp"

namespace gradlab::sandbox {
namespace {

// In a rootless container root is one uid of few.
bool has_uids() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0, outside = 0, count = 0;
  while (map >> inside >> outside >> count) {
    if (inside <= kFirstUid && kFirstOwnUid + 2 * kOwnUids <= inside + count) return true;
  }
  return false;
}

}  // namespace

Privilege privilege() {
  static const Privilege have = [] {
    if (geteuid() != 0) return Privilege::kOrdinary;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    if (syscall(SYS_capget, &header, data) != 0) return Privilege::kOrdinary;
    const auto has = [&](unsigned cap) {
      return (data[cap / 32].effective & (1U << (cap % 32))) != 0;
    };
    if (!has(CAP_SETUID) || !has(CAP_SETGID) || !has_uids()) return Privilege::kOrdinary;
    return has(CAP_SYS_ADMIN) ? Privilege::kRoot : Privilege::kRootNoMount;
  }();
  return have;
}

std::string root_folder(const char* in_run, const char* in_tmp, mode_t mode) {
  for (const char* folder : {in_run, in_tmp}) {
    if (mkdir(folder, mode) == 0) chmod(folder, mode);  // whatever the umask
    struct stat found{};
    constexpr mode_t kByOthers = S_IWGRP | S_IWOTH;
    if (lstat(folder, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == 0 &&
        (found.st_mode & kByOthers) == 0) {
      return folder;
    }
  }
  throw errors::system_call(std::string("making ") + in_run, errno);
}

}  // namespace gradlab::sandbox
