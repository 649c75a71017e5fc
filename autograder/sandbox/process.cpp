#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>

#include "sandbox/box.hpp"
#include "sandbox/errors.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/processes.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/waiting.hpp"

namespace gradlab::sandbox {
namespace {

constexpr auto kGone = std::chrono::seconds(5);  // for a killed box to be torn down

}  // namespace
struct Process::State {
  Launched launched;
  Limits limits;
  bool boxed = false;
  Clock::time_point start = Clock::now();
  std::string status;  // what bubblewrap said about itself, lines of JSON
  Descriptor first;    // pidfd of the first process of the box
  bool killed = false;
  bool reaped = false;

  bool ended() const;
  void read_status();
  void kill();
  void kill_by_keeper() const;
  void wait_until_gone();
  void poll_once(Clock::time_point deadline) const;
  bool read_output(Result& result) const;
  void reap(Result& result);
};

bool Process::State::ended() const {
  if (reaped) return true;
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(launched.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

// Learns the first process of the box, as long as its number cannot belong to another: bubblewrap,
// its parent, must still be there.
void Process::State::read_status() {
  if (!launched.status) return;
  status += read_available(launched.status.get());
#ifdef SYS_pidfd_open
  constexpr std::string_view kKey = "\"child-pid\": ";
  const std::size_t at = status.find(kKey);
  if (first || at == std::string::npos) return;
  pid_t pid = 0;
  std::from_chars(status.data() + at + kKey.size(), status.data() + status.size(), pid);
  Descriptor descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (descriptor && parent_of(pid) == launched.pid) first = std::move(descriptor);
#endif
}

// The first process of a pid namespace takes all others with it. It goes first, so that bubblewrap
// collects it and its CPU time; then bubblewrap, which takes it along anyway.
void Process::State::kill() {
  if (killed || reaped) return;
  killed = true;
  if (launched.lease) return kill_by_keeper();
  if (!boxed) {
    ::kill(-launched.pid, SIGKILL);
    ::kill(launched.pid, SIGKILL);
    return;
  }
  read_status();
#ifdef SYS_pidfd_send_signal
  if (first && syscall(SYS_pidfd_send_signal, first.get(), SIGKILL, nullptr, 0) == 0 &&
      launched.pidfd) {
    wait_readable(launched.pidfd.get(), std::chrono::seconds(1));
  }
#endif
  ::kill(launched.pid, SIGKILL);
}

// It kills and collects all of the box, and ends then. Should it not: the lease does, after it.
void Process::State::kill_by_keeper() const {
  ::kill(launched.pid, SIGTERM);
  const auto until = Clock::now() + kGone;
  while (!ended() && Clock::now() < until) wait_a_tick_for(launched.pidfd);
  if (!ended()) ::kill(launched.pid, SIGKILL);
}

void Process::State::wait_until_gone() {
  if (launched.lease) return;
  if (!boxed) {
    ::kill(-launched.pid, SIGKILL);  // what the program left in its group
    return;
  }
  read_status();
  // Readable when that process ended, and it ends after all others of its namespace.
  if (first) wait_readable(first.get(), kGone);
}

void Process::State::poll_once(Clock::time_point deadline) const {
  pollfd waiting[2] = {{launched.output.get(), POLLIN, 0}, {launched.pidfd.get(), POLLIN, 0}};
  int time = milliseconds_until(deadline);
  if (!launched.pidfd) time = std::min<int>(time, static_cast<int>(kTick.count()));
  poll(waiting, 2, time);
  // A program may close its output and go on: a pipe at its end is ready for ever.
  if ((waiting[0].revents & POLLHUP) != 0 && (waiting[0].revents & POLLIN) == 0) {
    if (launched.pidfd) {
      poll(&waiting[1], 1, milliseconds_until(deadline));
    } else {
      usleep(static_cast<useconds_t>(kTick.count()) * 1000);
    }
  }
}

// False when there was more than the limit.
bool Process::State::read_output(Result& result) const {
  char buffer[16384];
  for (ssize_t got; (got = read(launched.output.get(), buffer, sizeof buffer)) > 0;) {
    const std::size_t room = limits.output - result.output.size();
    result.output.append(buffer, std::min(room, static_cast<std::size_t>(got)));
    if (static_cast<std::size_t>(got) > room) {
      result.output_cut = true;
      return false;
    }
  }
  return true;
}

void Process::State::reap(Result& result) {
  wait_until_gone();
  int ended_as = 0;
  rusage used{};
  while (wait4(launched.pid, &ended_as, 0, &used) < 0 && errno == EINTR) {
  }
  reaped = true;
  if (launched.lease && WIFEXITED(ended_as)) launched.lease->all_ended();
  launched.lease.reset();
  result.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  result.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.code = WIFSIGNALED(ended_as) ? WTERMSIG(ended_as) : WEXITSTATUS(ended_as);
  result.ending = WIFSIGNALED(ended_as) ? Ending::kSignalled : Ending::kExited;
  if (launched.status) status += read_available(launched.status.get());
}

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}
Process::Process(Process&& other) noexcept = default;
Process& Process::operator=(Process&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Process::~Process() {
  if (!state_ || state_->reaped) return;
  Result unused;
  state_->kill();
  state_->reap(unused);
}

namespace {

// bubblewrap reports an exit code when it got as far as starting the program.
bool never_started(const Result& result, const std::string& status) {
  return result.ending == Ending::kExited && result.code != 0 &&
         status.find("\"exit-code\"") == std::string::npos;
}

void read_ending(Result& result, const Limits& limits) {
  // bubblewrap, and a shell, pass a signal on as 128 + its number.
  if (result.ending == Ending::kExited && result.code > 128 && result.code <= 128 + SIGRTMAX) {
    result.ending = Ending::kSignalled;
    result.code -= 128;
  }
  const bool by_kernel =
      result.ending == Ending::kSignalled && (result.code == SIGKILL || result.code == SIGXCPU);
  // The kernel counts against the limit in ticks, and is early by a third on a busy machine.
  if (by_kernel && result.cpu_seconds >= 0.5 * std::ceil(limits.cpu_seconds)) {
    result.ending = Ending::kTimeLimit;
    result.why = errors::out_of_cpu_time(limits.cpu_seconds);
  }
}

}  // namespace

Process Process::start(const Command& command, Isolation isolation) {
  auto state = std::make_unique<State>();
  state->limits = command.limits;
  state->boxed = isolation == Isolation::kFull;
  state->launched = launch(plan(command, isolation, true));
  return Process(std::move(state));
}

int Process::channel() const { return state_->launched.channel.get(); }
int Process::output() const { return state_->launched.output.get(); }
pid_t Process::pid() const { return state_->launched.pid; }
int Process::pidfd() const { return state_->launched.pidfd.get(); }
bool Process::ended() const { return state_->ended(); }

void Process::kill() {
  state_->kill();
  if (state_->launched.pidfd) wait_readable(state_->launched.pidfd.get(), kGone);
  state_->wait_until_gone();
}

Result Process::wait() {
  State& state = *state_;
  const auto deadline = state.start + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(state.limits.wall_seconds));
  Result result;
  Ending stopped = Ending::kExited;
  while (!state.ended()) {
    state.poll_once(deadline);
    if (!state.read_output(result)) stopped = Ending::kOutputLimit;
    if (stopped == Ending::kExited && Clock::now() >= deadline) stopped = Ending::kTimeLimit;
    if (stopped != Ending::kExited) {
      state.kill();
      break;
    }
  }
  state.reap(result);
  if (!result.output_cut && !state.read_output(result) && stopped == Ending::kExited) {
    stopped = Ending::kOutputLimit;
  }
  if (stopped != Ending::kExited) {
    result.ending = stopped;
    result.why = stopped == Ending::kTimeLimit ? errors::out_of_wall_time(state.limits.wall_seconds)
                                               : errors::too_much_output(state.limits.output);
  } else if (state.boxed && !state.killed && never_started(result, state.status)) {
    result.ending = Ending::kNotStarted;
    result.why = errors::box_did_not_start(result.output);
  } else {
    read_ending(result, state.limits);
  }
  return result;
}

Result run(const Command& command, Isolation isolation) {
  if (isolation == Isolation::kContainer && !why_no_container().empty()) {
    throw errors::no_container(why_no_container());
  }
  try {
    auto state = std::make_unique<Process::State>();
    state->limits = command.limits;
    state->boxed = isolation == Isolation::kFull;
    state->launched = launch(plan(command, isolation, false));
    return Process(std::move(state)).wait();
  } catch (const SandboxError& error) {
    Result result;
    result.why = error.what();
    return result;
  }
}

}  // namespace gradlab::sandbox
