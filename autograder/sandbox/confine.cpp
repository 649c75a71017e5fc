#include "sandbox/confine.hpp"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/landlock.hpp"

namespace gradlab::sandbox {
namespace {

// What no program that is executed later can get back. Needs CAP_SETPCAP, so before the uid.
bool drop_bounding_set() {
  for (int capability = 0;; ++capability) {
    const int there = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (there < 0) return errno == EINVAL && capability > 0;  // past the last
    if (there == 1 && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return false;
  }
}

// By what the kernel says, not by what was asked of it.
bool is_nobody(uid_t uid) {
  uid_t users[3]{};
  gid_t groups[3]{};
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct have[2]{};
  if (syscall(SYS_getresuid, &users[0], &users[1], &users[2]) != 0 ||
      syscall(SYS_getresgid, &groups[0], &groups[1], &groups[2]) != 0 ||
      syscall(SYS_capget, &header, have) != 0) {
    return false;
  }
  errno = EPERM;
  for (int i = 0; i < 3; ++i) {
    if (users[i] != uid || groups[i] != uid) return false;
  }
  for (const auto& each : have) {
    if ((each.effective | each.permitted | each.inheritable) != 0) return false;
  }
  return syscall(SYS_getgroups, 0, nullptr) == 0 && syscall(SYS_setresuid, 0, 0, 0) != 0;
}

}  // namespace

bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2]{};
  return syscall(SYS_capset, &header, none) == 0;
}

bool become_nobody(uid_t uid) {
  return drop_bounding_set() && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 &&
         syscall(SYS_setgroups, 0, nullptr) == 0 && syscall(SYS_setresgid, uid, uid, uid) == 0 &&
         syscall(SYS_setresuid, uid, uid, uid) == 0 && drop_capabilities() && is_nobody(uid);
}

bool close_in(int ruleset, const char* filter, std::size_t size) {
  sock_fprog program{};
  program.len = static_cast<unsigned short>(size / sizeof(sock_filter));
  program.filter = reinterpret_cast<sock_filter*>(const_cast<char*>(filter));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !landlock_enter(ruleset)) return false;
  close(ruleset);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

}  // namespace gradlab::sandbox
