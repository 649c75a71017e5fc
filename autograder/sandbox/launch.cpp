#include "sandbox/launch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <tuple>

#include "sandbox/child.hpp"
#include "sandbox/errors.hpp"

namespace gradlab::sandbox {
namespace {

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
    case Step::kKeeper:
      return "keeping the box";
    case Step::kCloseIn:
      return "closing the box (Landlock, seccomp)";
    case Step::kExec:
      return "running " + plan.program;
    case Step::kNone:
    case Step::kDescriptors:
      break;
  }
  return "descriptors";
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

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
  // In a container the child loads the filter itself, and enters the ruleset from that place.
  const Descriptor filter = plan.lease ? Descriptor() : filter_file(plan.filter);
  const int filter_or_ruleset = plan.lease ? plan.ruleset.get() : filter.get();
  launched.lease = plan.lease;

  const Prepared prepared{&plan,
                          pointers(plan.argv),
                          pointers(plan.environment),
                          {null.get(), output_write.get(), output_write.get(), channel.get(),
                           filter_or_ruleset, status.get(), error_write.get()},
                          getpid()};
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
