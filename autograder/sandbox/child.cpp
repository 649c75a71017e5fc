#include "sandbox/child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/confine.hpp"
#include "sandbox/keeper.hpp"

namespace gradlab::sandbox {
namespace {

constexpr int kFirstFree = 7;  // nothing from here on reaches the program

int g_error = kError;  // where to tell; another number until the descriptors are placed

[[noreturn]] void fail(Step step, int stage = -1) {
  const Failure failure{step, errno, stage};
  [[maybe_unused]] const ssize_t told = write(g_error, &failure, sizeof failure);
  _exit(127);
}

void reset_signals() {
  // Ignored signals and the mask survive exec: gradlab ignores SIGPIPE, a program need not.
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Under memory pressure the kernel ends this one first, not the batch.
void offer_to_oom_killer() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, "1000", 4);
  close(file);
}

void place_descriptors(std::array<int, 7> from) {
  g_error = from[kError];
  // First out of the way of the targets, then to them.
  for (int& number : from) {
    if (number < 0) continue;
    number = fcntl(number, F_DUPFD, 64);
    if (number < 0) fail(Step::kDescriptors);
  }
  g_error = from[kError];
  for (int target = 0; target < kFirstFree; ++target) {
    const int number = from[static_cast<std::size_t>(target)];
    if (number < 0) {
      close(target);
    } else if (dup2(number, target) < 0) {
      fail(Step::kDescriptors);
    }
  }
  g_error = kError;
  fcntl(kError, F_SETFD, FD_CLOEXEC);
  if (syscall(SYS_close_range, kFirstFree, ~0U, 0) == 0) return;
  for (int number = kFirstFree; number < 65536; ++number) close(number);  // before Linux 5.9
}

void bind(const Stage& stage, int index) {
  const char* place = stage.place.c_str();
  if (stage.folder) {
    if (mkdir(place, 0755) != 0) fail(Step::kPlace, index);
  } else {
    const int file = open(place, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (file < 0) fail(Step::kPlace, index);
    close(file);
  }
  if (mount(stage.host.c_str(), place, nullptr, MS_BIND, nullptr) != 0) fail(Step::kBind, index);
  // A second lock beside bubblewrap's own read-only bind; inside a container it may be refused.
  if (!stage.writable) {
    mount(nullptr, place, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID, nullptr);
  }
}

void bring_files(const Launch& plan) {
  if (unshare(CLONE_NEWNS) != 0) fail(Step::kNamespace);
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) fail(Step::kPrivate);
  if (mount("tmpfs", plan.staging.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") !=
      0) {
    fail(Step::kStaging);
  }
  int index = 0;
  for (const Stage& stage : plan.stages) bind(stage, index++);
}

// By system call: the library's wrappers would signal threads that a forked child does not have.
void become(uid_t uid) {
  if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, uid, uid, uid) != 0 ||
      syscall(SYS_setresuid, uid, uid, uid) != 0) {
    fail(Step::kUid);
  }
}

// A parent that is gone already sends no signal.
void die_with(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail(Step::kUid);
  errno = ESRCH;
  if (getppid() != parent) fail(Step::kUid);
}

[[noreturn]] void run_program(const Prepared& prepared, pid_t parent) {
  const Launch& plan = *prepared.plan;
  reset_signals();
  setsid();  // Ctrl-C is for gradlab, which then ends its boxes
  place_descriptors(prepared.descriptors);
  offer_to_oom_killer();
  umask(022);
  if (!plan.staging.empty()) bring_files(plan);
  if (plan.lease) {
    if (!become_nobody(plan.lease->uid())) fail(Step::kUid);
  } else if (plan.uid) {
    become(*plan.uid);
  }
  die_with(parent);  // a change of the uid takes it back
  for (const auto& [which, limit] : plan.limits) {
    if (setrlimit(static_cast<decltype(RLIMIT_AS)>(which), &limit) != 0) fail(Step::kLimit);
  }
  if (chdir(plan.directory.empty() ? "/" : plan.directory.c_str()) != 0) fail(Step::kDirectory);
  if (plan.lease && !close_in(kRuleset, plan.filter.data(), plan.filter.size())) {
    fail(Step::kCloseIn);
  }
  execve(plan.program.c_str(), prepared.argv.data(), prepared.environment.data());
  fail(Step::kExec);
}

}  // namespace

void run_child(const Prepared& prepared) {
  const Launch& plan = *prepared.plan;
  if (!plan.lease) run_program(prepared, prepared.parent);
  g_error = prepared.descriptors[kError];
  reset_signals();
  setsid();
  if (!become_keeper(prepared.parent)) fail(Step::kKeeper);
  const pid_t keeper = getpid();
  const pid_t first = _Fork();
  if (first < 0) fail(Step::kKeeper);
  if (first == 0) run_program(prepared, keeper);
  keep(first, plan.lease->uid(), plan.lease->killer(), plan.lease->lock());
}

}  // namespace gradlab::sandbox
