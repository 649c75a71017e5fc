#include "sandbox/remedies.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <initializer_list>

namespace gradlab::sandbox {
namespace {

bool has_any(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

// -1 where the file is missing.
long setting(const char* path) {
  std::ifstream file(path);
  long value = -1;
  return file >> value ? value : -1;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Remedy by_apparmor() {
  return {"Ubuntu's AppArmor rule keeps ordinary programs from making user namespaces",
          "Allow it for bubblewrap alone (as root, once):\n"
          "  printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\n"
          "profile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n' "
          "> /etc/apparmor.d/bwrap\n"
          "  apparmor_parser -r /etc/apparmor.d/bwrap\n"
          "or for all programs:\n"
          "  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\n"};
}

Remedy by_container() {
  return {"the container's seccomp profile forbids user namespaces (Docker's default does)",
          "Start the container with namespaces allowed:\n"
          "  docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
          "--security-opt systempaths=unconfined ...\n"
          "or with a seccomp profile that allows clone, unshare, mount, umount2 and pivot_root.\n"};
}

Remedy by_clone_setting() {
  return {"this kernel lets only root make user namespaces",
          "Allow it (as root; to keep it, write the setting to /etc/sysctl.d/gradlab.conf):\n"
          "  sysctl -w kernel.unprivileged_userns_clone=1\n"};
}

Remedy by_count() {
  return {"the number of user namespaces is limited to 0, or all are in use",
          "Allow some (as root; to keep it, write the setting to /etc/sysctl.d/gradlab.conf):\n"
          "  sysctl -w user.max_user_namespaces=10000\n"};
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.apparmor_restricts =
      setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1 && geteuid() != 0;
  machine.clone_forbidden = setting("/proc/sys/kernel/unprivileged_userns_clone") == 0;
  machine.no_namespaces = setting("/proc/sys/user/max_user_namespaces") == 0;
  machine.in_container = access("/.dockerenv", F_OK) == 0 ||
                         access("/run/.containerenv", F_OK) == 0 ||
                         access("/var/run/secrets/kubernetes.io", F_OK) == 0;
  return machine;
}

Remedy remedy_for(const std::string& said, const Machine& machine) {
  if (machine.no_namespaces || has_any(said, {"max_*_namespaces exceeded", "ENOSPC"})) {
    return by_count();
  }
  const bool refused =
      has_any(said, {"No permissions to creat", "Creating new namespace failed",
                     "setting up uid map", "loopback: Failed RTM_NEWADDR", "Failed to make / slave",
                     "Operation not permitted", "Permission denied"});
  if (refused && machine.clone_forbidden) return by_clone_setting();
  if (refused && machine.apparmor_restricts) return by_apparmor();
  // Outside a container root may make namespaces, so a refusal of the call itself is a filter's.
  if (refused && (machine.in_container ||
                  has_any(said, {"No permissions to creat", "Creating new namespace failed"}))) {
    return by_container();
  }
  if (has_any(said, {"prlimit", "bash"})) {
    return {fmt::format("a program of the sandbox is missing ({})", first_line(said)),
            "Install it: apt-get install util-linux bash\n"};
  }
  return {fmt::format("bubblewrap fails here ({})", first_line(said)),
          "Run  bwrap --unshare-all --ro-bind / / true  to see its message, and look it up for "
          "your system.\n"};
}

Remedy remedy_without_bubblewrap() {
  return {"bubblewrap (bwrap) is not installed", "Install it:\n  apt-get install bubblewrap\n"};
}

Remedy remedy_for_leak(const std::string& what) {
  return {
      fmt::format("the sandbox starts, but {}", what),
      "This bubblewrap does not confine here. Check that /usr/bin/bwrap is your system's own.\n"};
}

}  // namespace gradlab::sandbox
