#include "sandbox/keeper.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/confine.hpp"

namespace gradlab::sandbox {
namespace {

sigset_t awaited() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  return signals;
}

struct First {
  pid_t pid;
  int status = SIGKILL;  // as waitpid tells it
  bool ended = false;
};

// Collects what has ended. False when there is no child any more, so nothing of the box.
bool collect(First& first) {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid == 0) return true;
    if (pid < 0) return errno == EINTR;
    if (pid != first.pid) continue;
    first.status = status;
    first.ended = true;
  }
}

void pause_briefly() {
  const timespec time{0, 1'000'000};
  nanosleep(&time, nullptr);
}

void hold_only(int descriptor) {
  // Landlock is younger than close_range, so the call is there.
  if (descriptor > 0) syscall(SYS_close_range, 0, descriptor - 1, 0);
  syscall(SYS_close_range, descriptor + 1, ~0U, 0);
}

}  // namespace

bool become_keeper(pid_t parent) {
  const sigset_t signals = awaited();
  if (sigprocmask(SIG_SETMASK, &signals, nullptr) != 0) return false;
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return false;
  if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0) return false;
  errno = ESRCH;
  return getppid() == parent;
}

void kill_all_of(uid_t uid, uid_t killer) {
  // kill() looks at the sender's real and effective uid and at the target's real and saved one:
  // this process reaches all of `uid`, and nobody of `uid` reaches it.
  if (syscall(SYS_setgroups, 0, nullptr) == 0 &&
      syscall(SYS_setresgid, killer, killer, killer) == 0 &&
      syscall(SYS_setresuid, killer, uid, killer) == 0 && drop_capabilities()) {
    kill(-1, SIGKILL);
  }
  _exit(0);
}

void keep(pid_t pid, uid_t uid, uid_t killer, int lock) {
  hold_only(lock);
  First first{pid};
  const sigset_t signals = awaited();
  for (;;) {
    collect(first);
    if (first.ended || sigwaitinfo(&signals, nullptr) == SIGTERM) break;
  }
  if (!first.ended) kill(pid, SIGKILL);
  // A process that forks while it is killed does not get its child; more than one round is for
  // what the kernel has no memory to fork.
  do {
    if (_Fork() == 0) kill_all_of(uid, killer);
    pause_briefly();
  } while (collect(first));
  _exit(WIFSIGNALED(first.status) ? 128 + WTERMSIG(first.status) : WEXITSTATUS(first.status));
}

}  // namespace gradlab::sandbox
