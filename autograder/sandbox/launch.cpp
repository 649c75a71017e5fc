#include "sandbox/launch.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <tuple>

#include "sandbox/errors.hpp"

namespace gradlab::sandbox {
namespace {

constexpr int kError = 6;      // tells the parent why there was no exec; closed by exec
constexpr int kFirstFree = 7;  // nothing from here on reaches the program

// What failed in the child, as it travels through the pipe.
enum class Step : int {
  kNone,
  kDescriptors,
  kNamespace,
  kPrivate,
  kStaging,
  kPlace,
  kBind,
  kUid,
  kLimit,
  kDirectory,
  kExec
};
struct Failure {
  Step step = Step::kNone;
  int error = 0;
  int stage = -1;
};

std::string words(const Failure& failure, const Launch& plan) {
  switch (failure.step) {
    case Step::kNamespace:
      return "unshare(mount namespace)";
    case Step::kPrivate:
      return "making mounts private";
    case Step::kStaging:
      return "mounting " + plan.staging;
    case Step::kPlace:
    case Step::kBind:
      return "mounting " + plan.stages.at(static_cast<std::size_t>(failure.stage)).host;
    case Step::kUid:
      return "becoming an ordinary user";
    case Step::kLimit:
      return "setting limits";
    case Step::kDirectory:
      return "changing to " + plan.directory;
    case Step::kExec:
      return "running " + plan.program;
    case Step::kNone:
    case Step::kDescriptors:
      break;
  }
  return "descriptors";
}

// The plan in the form that system calls take.
struct Prepared {
  const Launch* plan;
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::array<int, 7> descriptors;  // by number in the child; -1: closed
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

// ---- From here to run_child: in the child, signal-safe calls only. ----

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

[[noreturn]] void run_child(const Prepared& prepared) {
  const Launch& plan = *prepared.plan;
  reset_signals();
  setsid();  // Ctrl-C is for gradlab, which then ends its boxes
  place_descriptors(prepared.descriptors);
  offer_to_oom_killer();
  umask(022);
  if (!plan.staging.empty()) bring_files(plan);
  if (plan.uid) become(*plan.uid);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  for (const auto& [which, limit] : plan.limits) {
    if (setrlimit(static_cast<decltype(RLIMIT_AS)>(which), &limit) != 0) fail(Step::kLimit);
  }
  if (chdir(plan.directory.empty() ? "/" : plan.directory.c_str()) != 0) fail(Step::kDirectory);
  execve(plan.program.c_str(), prepared.argv.data(), prepared.environment.data());
  fail(Step::kExec);
}

// ---- In the parent again. ----

std::pair<Descriptor, Descriptor> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw errors::system_call("pipe", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void do_not_block(const Descriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

// Each box needs its own: the program is read from the descriptor's position.
Descriptor filter_file(const std::string& program) {
  if (program.empty()) return {};
  Descriptor file(memfd_create("filter", MFD_CLOEXEC));
  if (!file ||
      write(file.get(), program.data(), program.size()) != static_cast<ssize_t>(program.size())) {
    throw errors::system_call("memfd", errno);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Blocks until exec closed the pipe or the child said what failed.
void wait_for_exec(const Descriptor& pipe, pid_t pid, const Launch& plan) {
  Failure failure;
  ssize_t got;
  while ((got = read(pipe.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (got == 0) return;
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  throw errors::system_call(words(failure, plan), failure.error);
}

}  // namespace

void Descriptor::reset() {
  if (number_ >= 0) close(number_);
  number_ = -1;
}

Launched launch(const Launch& plan) {
  Launched launched;
  auto [error_read, error_write] = make_pipe();
  auto [output_read, output_write] = make_pipe();
  Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) throw errors::system_call("open /dev/null", errno);
  Descriptor channel, status;
  if (plan.channel) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw errors::system_call("socketpair", errno);
    }
    launched.channel = Descriptor(ends[0]);
    channel = Descriptor(ends[1]);
  }
  if (plan.status) std::tie(launched.status, status) = make_pipe();
  const Descriptor filter = filter_file(plan.filter);

  const Prepared prepared{&plan,
                          pointers(plan.argv),
                          pointers(plan.environment),
                          {null.get(), output_write.get(), output_write.get(), channel.get(),
                           filter.get(), status.get(), error_write.get()}};
  const pid_t pid = fork();
  if (pid < 0) throw errors::system_call("fork", errno);
  if (pid == 0) run_child(prepared);

  error_write.reset();
  wait_for_exec(error_read, pid, plan);
  launched.pid = pid;
#ifdef SYS_pidfd_open
  launched.pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#endif
  do_not_block(output_read);
  if (launched.status) do_not_block(launched.status);
  launched.output = std::move(output_read);
  return launched;
}

}  // namespace gradlab::sandbox
