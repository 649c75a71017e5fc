#include "sandbox/box.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <initializer_list>

#include "sandbox/errors.hpp"
#include "sandbox/filter.hpp"

namespace gradlab::sandbox {
namespace {

constexpr uid_t kFirstUid = 61184;  // of systemd's range for uids that belong to nobody
constexpr unsigned kUids = 64;      // before Linux 5.14 RLIMIT_NPROC counts a uid's boxes together
constexpr const char* kInnerUid = "65534";

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

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

// A machine may have set a lower limit for its users; a hard limit cannot be raised.
rlim_t allowed(int which, double wanted) {
  rlimit now{};
  getrlimit(static_cast<__rlimit_resource>(which), &now);
  return std::min(static_cast<rlim_t>(std::ceil(wanted)), now.rlim_max);
}

// What counts everywhere. Soft and hard limit are one: between them clang would meet SIGXCPU, and
// answer it with a crash report.
struct Limit {
  int which;
  const char* option;
  rlim_t value;
};
std::vector<Limit> compile_limits(const Limits& limits) {
  return {{RLIMIT_CORE, "core", 0},
          {RLIMIT_AS, "as", allowed(RLIMIT_AS, static_cast<double>(limits.address_space))},
          {RLIMIT_CPU, "cpu", allowed(RLIMIT_CPU, limits.cpu_seconds)},
          {RLIMIT_FSIZE, "fsize", allowed(RLIMIT_FSIZE, static_cast<double>(limits.file_size))},
          {RLIMIT_NOFILE, "nofile", allowed(RLIMIT_NOFILE, limits.open_files)}};
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

// A folder that root alone can replace, to mount the stages in.
std::string staging_folder() {
  for (const char* folder : {"/run/gradlab", "/tmp/gradlab-stage"}) {
    mkdir(folder, 0755);
    struct stat found{};
    if (lstat(folder, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == 0) return folder;
  }
  throw errors::system_call("making /run/gradlab", errno);
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

void bind_mounts(const Command& command, Launch& launch) {
  const Privilege have = privilege();
  if (have != Privilege::kOrdinary) {
    static std::atomic<unsigned> next{static_cast<unsigned>(getpid())};
    launch.uid = kFirstUid + next++ % kUids;
  }
  if (have == Privilege::kRoot) launch.staging = staging_folder();
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

Launch none(const Command& command, bool channel) {
  Launch launch;
  launch.program = command.argv[0];
  launch.argv = command.argv;
  launch.environment.emplace_back("PATH=/usr/bin:/bin");
  for (const auto& [name, value] : command.environment) {
    launch.environment.push_back(fmt::format("{}={}", name, value));
  }
  launch.directory = path_inside(command, Isolation::kNone, command.working_directory);
  launch.channel = channel;
  if (command.for_runner) {
    launch.limits.emplace_back(RLIMIT_CORE, rlimit{0, 0});
  } else {
    for (const Limit& limit : compile_limits(command.limits)) {
      launch.limits.emplace_back(limit.which, rlimit{limit.value, limit.value});
    }
  }
  return launch;
}

// In a rootless container root is one uid of few.
bool has_uids() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0, outside = 0, count = 0;
  while (map >> inside >> outside >> count) {
    if (inside <= kFirstUid && kFirstUid + kUids <= inside + count) return true;
  }
  return false;
}

}  // namespace

std::string to_string(Isolation isolation) {
  switch (isolation) {
    case Isolation::kFull:
      return "full";
    case Isolation::kContainer:
      return "container";
    case Isolation::kNone:
      break;
  }
  return "none";
}

std::optional<Isolation> isolation_from(std::string_view text) {
  for (const Isolation isolation : {Isolation::kFull, Isolation::kContainer, Isolation::kNone}) {
    if (to_string(isolation) == text) return isolation;
  }
  return std::nullopt;
}

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

Launch plan(const Command& command, Isolation isolation, bool channel) {
  if (isolation == Isolation::kContainer) throw errors::container_is_not_offered();
  check(command);
  return isolation == Isolation::kFull ? full(command, channel) : none(command, channel);
}

std::string path_inside(const Command& command, Isolation isolation, const std::string& inside) {
  if (isolation == Isolation::kFull) return inside;
  for (auto mount = command.mounts.rbegin(); mount != command.mounts.rend(); ++mount) {
    const std::string& at = mount->inside;
    if (inside == at) return mount->host;
    if (inside.starts_with(at) && inside[at.size()] == '/') {
      return mount->host + inside.substr(at.size());
    }
  }
  return inside;
}

}  // namespace gradlab::sandbox
