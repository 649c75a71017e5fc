// The wire to one sandboxed runner: starts it, sends and awaits frames, gathers what it prints. It
// knows nothing of cases or verdicts, and trusts nothing that it receives.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "protocol/frame.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab {

struct RunnerOrder {
  std::string runner;       // host path of runner_<slug>
  std::string torch;        // host folder with lib/
  std::string cuda_libs;    // host folder of the CUDA runtime stubs, may be empty
  std::string libraries;    // host folder of our own shared objects; empty where it needs none
  std::string functions;    // host file to load before a hand-in; empty where there is none
  std::string library_dir;  // host folder that holds, or will hold, the hand-in's shared object
  sandbox::Isolation isolation = sandbox::Isolation::kFull;
  double case_cpu_seconds = 2;
  double hand_in_seconds = 30;
  uint64_t address_space = 2048 * sandbox::kMiB;
  int processes = 32;
  size_t output = 64 * 1024;  // bytes that one case may print
};

class RunnerLink {
 public:
  // What a wait for the next frame came to.
  enum class Wait { kFrame, kClosed, kTimeout, kFlood, kMalformed };

  explicit RunnerLink(RunnerOrder order) : order_(std::move(order)) {}
  const RunnerOrder& order() const { return order_; }

  // Starts the runner, or another one in its place.
  void start();
  void kill() { process_->kill(); }
  pid_t pid() const { return process_->pid(); }
  // False before the first start, too.
  bool running() const { return process_ && !process_->ended(); }

  // What the runner is told when it is to open a file of library_dir.
  protocol::Frame opening(const std::string& file_name) const;

  // Asked when the seconds of send() or wait() are over: how many more there are, 0 for none.
  std::function<double()> more_time;

  // Nothing when all of it was sent, else kClosed or kTimeout. Reads meanwhile what is printed, so
  // that a runner that talks before it listens cannot block us.
  std::optional<Wait> send(const protocol::Frame& frame, double seconds);
  Wait wait(protocol::Frame& frame, double seconds);

  // What was printed since the last call, at most order().output bytes of it.
  std::string take_output();
  // In words: "a bad memory access (SIGSEGV)", "exit(3)". Nothing when the runner goes on, which is
  // then killed: REQUIRES that its channel is closed, and an honest end follows at once.
  std::optional<std::string> how_ended();

  // Of all that was printed, cut at order().output.
  const std::string& printed() const { return printed_; }
  bool printed_too_much() const { return printed_too_much_; }

 private:
  using Clock = std::chrono::steady_clock;  // a clock that jumps must not cost a student anything

  sandbox::Command command() const;
  bool is_put_off(Clock::time_point& until) const;
  void drain_output();

  RunnerOrder order_;
  std::optional<sandbox::Process> process_;
  protocol::FrameDecoder decoder_{protocol::FrameLimits{256u << 10, 64u << 20}};
  std::string output_;
  bool output_open_ = true;
  std::string printed_;
  bool printed_too_much_ = false;
};

// "a bad memory access (SIGSEGV)"
std::string signal_in_words(int signal);

}  // namespace gradlab
