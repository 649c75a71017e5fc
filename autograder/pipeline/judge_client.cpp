#include "pipeline/judge_client.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradlab::pipeline {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kSlice = 200;  // ms between two looks at the stop flag
constexpr size_t kMostComplaint = 4096;
constexpr size_t kMostLine = 64u << 20;  // a judge is ours, but a broken one must not fill memory

void make_pipe(std::array<int, 2>& ends) {
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe could be made: too many files are open on this machine");
  }
}

// A judge of its own mind: variables of GoogleTest, OpenMP or LibTorch that are set for something
// else would choose checks or kernels, and the runner does not have them either.
std::vector<std::string> environment() {
  std::vector<std::string> kept{"OMP_NUM_THREADS=1"};
  for (const char* name : {"PATH", "HOME", "TMPDIR"}) {
    if (const char* value = getenv(name)) kept.push_back(fmt::format("{}={}", name, value));
  }
  return kept;
}

void close_end(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

}  // namespace

void JudgeClient::start() {
  if (pid_ > 0) return;
  std::array<int, 2> in{}, out{}, err{};
  make_pipe(in);
  make_pipe(out);
  make_pipe(err);
  const char* const program = program_.c_str();
  auto variables = environment();
  std::vector<char*> envp;
  for (auto& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  // Without shells and with one thread each: jobs run side by side, threads of one would not help.
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);  // Ctrl-C is for the command, which ends the judge in its own way
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    char serve[] = "--serve";
    char* const argv[] = {const_cast<char*>(program), serve, nullptr};
    execve(program, argv, envp.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  in_ = in[1];
  out_ = out[0];
  err_ = err[0];
  buffer_.clear();
  complaint_.clear();
  if (pid_ < 0) {
    stop();
    throw std::runtime_error("the judge could not be started: the machine has no process to spare");
  }
}

bool JudgeClient::send(const nlohmann::json& order) {
  start();
  const std::string line =
      order.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = write(in_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

std::optional<nlohmann::json> JudgeClient::next(double seconds) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
  for (;;) {
    const auto end = buffer_.find('\n');
    if (end != std::string::npos) {
      auto event = nlohmann::json::parse(buffer_.substr(0, end), nullptr, false);
      buffer_.erase(0, end + 1);
      if (event.is_object()) return event;
      return std::nullopt;
    }
    if (buffer_.size() > kMostLine || !read_more(until)) return std::nullopt;
  }
}

// Reads what has come on stdout or stderr; false at the end of stdout and when time is up.
bool JudgeClient::read_more(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  if (left.count() <= 0 || out_ < 0 || (stop_ != nullptr && *stop_)) return false;
  std::array<pollfd, 2> ends{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
  if (poll(ends.data(), ends.size(), std::min(static_cast<int>(left.count()) + 1, kSlice)) < 0) {
    return errno == EINTR;
  }
  std::array<char, 65536> chunk{};
  if (ends[1].revents != 0) {
    const ssize_t n = read(err_, chunk.data(), chunk.size());
    if (n <= 0) {
      close_end(err_);
    } else if (complaint_.size() < kMostComplaint) {
      complaint_.append(chunk.data(), std::min(static_cast<size_t>(n), kMostComplaint));
    }
  }
  if (ends[0].revents != 0) {
    const ssize_t n = read(out_, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    buffer_.append(chunk.data(), static_cast<size_t>(n));
  }
  return true;
}

void JudgeClient::stop() {
  close_end(in_);
  close_end(out_);
  close_end(err_);
  if (pid_ > 0) {
    // The whole group: the server's child, and through it the box that the child started.
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
}

}  // namespace gradlab::pipeline
