#include "sandbox/box.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>

#include "sandbox/errors.hpp"
#include "sandbox/filter.hpp"
#include "sandbox/parts.hpp"
#include "sandbox/privilege.hpp"

namespace gradlab::sandbox {
namespace {

constexpr const char* kInnerUid = "65534";

std::string find_program(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return {};
}

// bubblewrap before 0.8 lacks the option; the filter then does the same.
bool knows_disable_userns(const std::string& bwrap) {
  static const bool known = [&] {
    Command help;
    help.argv = {bwrap, "--help"};
    return run(help, Isolation::kNone).output.find("--disable-userns") != std::string::npos;
  }();
  return known;
}

void append(std::vector<std::string>& to, std::initializer_list<std::string> more) {
  to.insert(to.end(), more);
}

void bind_if_there(std::vector<std::string>& argv, const char* how, const std::string& path) {
  if (exists(path)) append(argv, {how, path, path});
}

// Shared libraries and, for a compile, the programs. Nothing of /etc, /home or /proc.
void bind_system(std::vector<std::string>& argv, bool for_runner) {
  if (for_runner) {
    bind_if_there(argv, "--ro-bind", "/usr/lib/x86_64-linux-gnu");
    bind_if_there(argv, "--ro-bind", "/usr/lib/aarch64-linux-gnu");
    // Without these two LibTorch falls back to its slowest kernels, which round differently.
    bind_if_there(argv, "--ro-bind", "/proc/cpuinfo");
    bind_if_there(argv, "--ro-bind", "/sys/devices/system/cpu");
    // The default generator of random numbers reads urandom.
    bind_if_there(argv, "--dev-bind", "/dev/urandom");
  } else {
    for (const char* folder : {"/usr/bin", "/usr/lib", "/usr/include"}) {
      bind_if_there(argv, "--ro-bind", folder);
    }
    append(argv, {"--symlink", "usr/bin", "/bin"});
  }
  bind_if_there(argv, "--dev-bind", "/dev/null");
  bind_if_there(argv, "--ro-bind", "/usr/lib64");
  append(argv, {"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"});
}

std::vector<std::string> limited(const Command& command) {
  std::vector<std::string> argv{"/usr/bin/prlimit"};
  for (const Limit& limit : compile_limits(command.limits)) {
    argv.push_back(fmt::format("--{}={}", limit.option, limit.value));
  }
  // In the box's own user namespace; outside it counts all processes of the user.
  if (command.limits.processes > 0) {
    argv.push_back(fmt::format("--nproc={}", allowed(RLIMIT_NPROC, command.limits.processes)));
  }
  argv.emplace_back("--");
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  return argv;
}

void bind_mounts(const Command& command, Launch& launch) {
  const Privilege have = privilege();
  if (have != Privilege::kOrdinary) {
    static std::atomic<unsigned> next{static_cast<unsigned>(getpid())};
    launch.uid = kFirstUid + next++ % kSharedUids;
  }
  if (have == Privilege::kRoot)
    launch.staging = root_folder("/run/gradlab", "/tmp/gradlab-stage", 0755);
  for (const Mount& mount : command.mounts) {
    std::string host = mount.host;
    struct stat found{};
    stat(mount.host.c_str(), &found);
    if (launch.uid && mount.writable) give(mount, *launch.uid);
    if (launch.uid && !mount.writable && !readable_by_all(found)) {
      throw errors::unreadable_mount(mount.host);
    }
    if (have == Privilege::kRoot) {
      host = fmt::format("{}/{}", launch.staging, launch.stages.size());
      launch.stages.push_back({mount.host, host, S_ISDIR(found.st_mode) != 0, mount.writable});
    }
    append(launch.argv, {mount.writable ? "--bind" : "--ro-bind", host, mount.inside});
  }
}

Launch full(const Command& command, bool channel) {
  Launch launch;
  launch.program = find_program("bwrap");
  if (launch.program.empty()) throw errors::no_bubblewrap();
  std::vector<std::string>& argv = launch.argv;
  argv = {"bwrap",
          "--unshare-user",
          "--unshare-pid",
          "--unshare-net",
          "--unshare-ipc",
          "--unshare-uts",
          "--unshare-cgroup-try",
          "--die-with-parent",
          "--new-session",
          "--cap-drop",
          "ALL",
          "--clearenv",
          "--hostname",
          "box",
          "--uid",
          kInnerUid,
          "--gid",
          kInnerUid,
          "--seccomp",
          std::to_string(kFilter),
          "--json-status-fd",
          std::to_string(kStatus)};
  if (knows_disable_userns(launch.program)) argv.emplace_back("--disable-userns");
  // As the namespace's first process a compile is waited for directly, which counts its CPU time. A
  // runner forks, and wants an init that collects what its children leave behind.
  if (!command.for_runner) argv.emplace_back("--as-pid-1");
  append(argv, {"--setenv", "PATH", "/usr/bin"});
  for (const auto& [name, value] : command.environment) append(argv, {"--setenv", name, value});
  // /tmp comes before the mounts, some of which may lie in it.
  append(argv, {"--size", std::to_string(command.limits.tmpfs), "--tmpfs", "/tmp"});
  bind_system(argv, command.for_runner);
  bind_mounts(command, launch);
  // Last: until here the root is a writable tmpfs without a size.
  append(argv, {"--remount-ro", "/", "--chdir", command.working_directory, "--"});
  const std::vector<std::string> inner = command.for_runner ? command.argv : limited(command);
  argv.insert(argv.end(), inner.begin(), inner.end());
  static const std::string filter = filter_program(Filter::kBox);
  launch.filter = filter;
  launch.status = true;
  launch.channel = channel;
  return launch;
}

}  // namespace

Launch plan(const Command& command, Isolation isolation, bool channel) {
  check(command);
  switch (isolation) {
    case Isolation::kFull:
      return full(command, channel);
    case Isolation::kContainer:
      return container(command, channel);
    case Isolation::kNone:
      break;
  }
  return none(command, channel);
}

}  // namespace gradlab::sandbox
