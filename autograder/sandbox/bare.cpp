// The plans without bubblewrap: `none`, limits alone, and `container`, where the launcher itself
// confines the child. Paths are the host's in both.
#include <unistd.h>

#include "sandbox/box.hpp"
#include "sandbox/errors.hpp"
#include "sandbox/filter.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/parts.hpp"
#include "sandbox/privilege.hpp"

namespace gradlab::sandbox {
namespace {

constexpr const char* kTemporary = "/tmp";  // as a box names its private temporary folder

// The same that bubblewrap shows (box.cpp).
std::vector<Opening> system_openings(bool for_runner) {
  std::vector<Opening> openings{{"/dev/null", Reach::kDevice}, {"/usr/lib64", Reach::kRead}};
  const std::vector<const char*> more =
      for_runner
          ? std::vector<const char*>{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                     "/proc/cpuinfo", "/sys/devices/system/cpu", "/dev/urandom"}
          : std::vector<const char*>{"/usr/bin", "/usr/lib", "/usr/include"};
  for (const char* path : more) openings.push_back({path, Reach::kRead});
  std::erase_if(openings, [](const Opening& each) { return !exists(each.path); });
  return openings;
}

std::vector<Opening> openings_of(const Command& command, const Lease& lease) {
  std::vector<Opening> openings = system_openings(command.for_runner);
  openings.push_back({lease.folder(), Reach::kWrite});
  for (const Mount& mount : command.mounts) {
    if (mount.writable) give(mount, lease.uid());
    const std::string barrier = barrier_to(mount.host);
    if (!barrier.empty()) throw errors::no_way_in(mount.host, barrier);
    openings.push_back({mount.host, mount.writable ? Reach::kWrite : Reach::kRead});
  }
  return openings;
}

void add_limits(const Command& command, bool own_uid, Launch& launch) {
  const auto add = [&](int which, rlim_t value) {
    launch.limits.emplace_back(which, rlimit{value, value});
  };
  if (command.for_runner) return add(RLIMIT_CORE, 0);
  for (const Limit& limit : compile_limits(command.limits)) add(limit.which, limit.value);
  // It counts all processes of a uid, so only where the uid is the box's own.
  if (own_uid && command.limits.processes > 0) {
    add(RLIMIT_NPROC, allowed(RLIMIT_NPROC, command.limits.processes));
  }
}

}  // namespace

Launch none(const Command& command, bool channel) {
  Launch launch;
  launch.program = command.argv[0];
  launch.argv = command.argv;
  launch.environment = environment_of(command, "/usr/bin:/bin");
  launch.directory = path_inside(command, Isolation::kNone, command.working_directory);
  launch.channel = channel;
  add_limits(command, /*own_uid=*/false, launch);
  return launch;
}

Launch container(const Command& command, bool channel) {
  const std::string& why_not = why_no_container();
  if (!why_not.empty()) throw errors::no_container(why_not);
  Launch launch;
  launch.lease = Lease::take();
  launch.program = command.argv[0];
  launch.argv = command.argv;
  launch.environment = environment_of(command, "/usr/bin");
  launch.environment.push_back("TMPDIR=" + launch.lease->folder());
  launch.directory = path_inside(command, Isolation::kContainer, command.working_directory);
  if (launch.directory == kTemporary) launch.directory = launch.lease->folder();
  launch.ruleset = landlock_ruleset(openings_of(command, *launch.lease));
  static const std::string filter = filter_program(Filter::kBox);
  launch.filter = filter;
  launch.channel = channel;
  add_limits(command, /*own_uid=*/true, launch);
  return launch;
}

const std::string& why_no_container() {
  static const std::string why = [] {
    if (privilege() == Privilege::kOrdinary) return errors::container_needs_root(geteuid() == 0);
    return landlock_abi() > 0 ? std::string() : errors::container_needs_landlock();
  }();
  return why;
}

}  // namespace gradlab::sandbox
