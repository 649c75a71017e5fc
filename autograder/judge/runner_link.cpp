#include "judge/runner_link.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gradlab {

constexpr const char* kTorchLibraries = "/opt/libtorch/torch/lib";
constexpr const char* kFunctions = "/box/functions.so";
constexpr auto kEndFollows = std::chrono::seconds(3);  // a box is gone 20 ms after its runner

namespace {

std::chrono::steady_clock::time_point after(std::chrono::steady_clock::time_point time,
                                            double seconds) {
  return time + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                    std::chrono::duration<double>(seconds));
}

}  // namespace

std::string signal_in_words(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "a bad memory access (SIGSEGV)";
    case SIGABRT:
      return "abort() (SIGABRT), as after an exception that nothing catches";
    case SIGFPE:
      return "a bad arithmetic operation (SIGFPE)";
    case SIGKILL:
      return "killed (SIGKILL)";
    default:
      return fmt::format("ended by signal {} ({})", signal, strsignal(signal));
  }
}

void RunnerLink::start() {
  decoder_.clear();
  process_.emplace(sandbox::Process::start(command(), order_.isolation));
  const int flags = fcntl(process_->channel(), F_GETFL);
  fcntl(process_->channel(), F_SETFL, flags | O_NONBLOCK);
}

sandbox::Command RunnerLink::command() const {
  sandbox::Command command;
  command.for_runner = true;
  command.mounts = {{order_.runner, "/box/runner"},
                    {order_.torch + "/lib", kTorchLibraries},
                    {order_.library_dir, "/in"}};
  std::vector<const char*> searched = {kTorchLibraries};
  const auto add = [&](const std::string& host, const char* inside) {
    if (host.empty()) return;
    command.mounts.push_back({host, inside});
    searched.push_back(inside);
  };
  add(order_.cuda_libs, "/opt/libtorch/cuda");
  add(order_.libraries, "/opt/gradlab/libraries");
  if (!order_.functions.empty()) command.mounts.push_back({order_.functions, kFunctions});
  const bool isolated = order_.isolation != sandbox::Isolation::kNone;
  const auto inside = [&](const char* path) {
    return sandbox::path_inside(command, order_.isolation, path);
  };
  command.argv = {inside("/box/runner"), isolated ? "--isolated" : "--alone"};
  if (!order_.functions.empty()) command.argv.push_back(inside(kFunctions));
  std::string path;
  for (const char* folder : searched) path += (path.empty() ? "" : ":") + inside(folder);
  command.environment = {{"LD_LIBRARY_PATH", path}, {"OMP_NUM_THREADS", "1"}};
  command.limits.wall_seconds = 3600;  // the judge keeps its own, shorter times
  command.limits.tmpfs = 16 * sandbox::kMiB;
  command.limits.output = SIZE_MAX;
  return command;
}

protocol::Frame RunnerLink::opening(const std::string& file_name) const {
  const bool isolated = order_.isolation != sandbox::Isolation::kNone;
  return {{{"library", sandbox::path_inside(command(), order_.isolation, "/in/" + file_name)},
           {"case_cpu_seconds", order_.case_cpu_seconds},
           {"hand_in_seconds", order_.hand_in_seconds},
           {"address_space", order_.address_space},
           {"processes", isolated ? order_.processes : 0}},
          {}};
}

std::optional<RunnerLink::Wait> RunnerLink::send(const protocol::Frame& frame, double seconds) {
  const std::string bytes = protocol::encode(frame);
  Clock::time_point until = after(Clock::now(), seconds);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        ::send(process_->channel(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR) return Wait::kClosed;
    if (Clock::now() > until && !is_put_off(until)) return Wait::kTimeout;
    pollfd ends[2] = {{process_->channel(), POLLOUT, 0}, {process_->output(), POLLIN, 0}};
    poll(ends, 2, 1000);
    if (ends[1].revents != 0) drain_output();
  }
  return std::nullopt;
}

RunnerLink::Wait RunnerLink::wait(protocol::Frame& frame, double seconds) {
  Clock::time_point until = after(Clock::now(), seconds);
  std::string chunk(1u << 18, '\0');
  for (;;) {
    try {
      if (auto next = decoder_.next()) {
        drain_output();
        frame = std::move(*next);
        return Wait::kFrame;
      }
    } catch (const protocol::MalformedFrame&) {
      return Wait::kMalformed;
    }
    const auto left = std::chrono::duration<double>(until - Clock::now()).count();
    if (left <= 0) {
      if (is_put_off(until)) continue;
      return Wait::kTimeout;
    }
    pollfd ends[2] = {{process_->channel(), POLLIN, 0},
                      {process_->output(), static_cast<short>(output_open_ ? POLLIN : 0), 0}};
    poll(ends, 2, static_cast<int>(left * 1000) + 1);
    if (ends[1].revents != 0) drain_output();
    const bool flood = output_.size() > order_.output;
    // What was printed may be two cases' own, with the answer of the first on its way.
    if (flood) poll(ends, 1, 0);
    if (ends[0].revents == 0) {
      if (flood) return Wait::kFlood;
      continue;
    }
    const ssize_t n = read(process_->channel(), chunk.data(), chunk.size());
    if (n > 0) {
      decoder_.feed(std::string_view(chunk.data(), static_cast<size_t>(n)));
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      drain_output();
      return decoder_.empty() ? Wait::kClosed : Wait::kMalformed;
    }
  }
}

bool RunnerLink::is_put_off(Clock::time_point& until) const {
  const double more = more_time ? more_time() : 0;
  until = after(until, more);
  return more > 0;
}

void RunnerLink::drain_output() {
  char chunk[4096];
  output_open_ = true;
  while (output_.size() <= order_.output) {
    const ssize_t n = read(process_->output(), chunk, sizeof chunk);
    if (n > 0) {
      output_.append(chunk, static_cast<size_t>(n));
      continue;
    }
    // At its end the pipe would make poll return at once for ever.
    if (n == 0) output_open_ = false;
    return;
  }
}

std::string RunnerLink::take_output() {
  drain_output();
  std::string text = std::move(output_);
  output_.clear();
  const size_t room = order_.output - std::min(order_.output, printed_.size());
  if (text.size() > room) printed_too_much_ = true;
  printed_ += text.substr(0, room);
  return text.substr(0, order_.output);
}

std::optional<std::string> RunnerLink::how_ended() {
  auto until = Clock::now() + kEndFollows;
  while (!process_->ended() && (Clock::now() < until || is_put_off(until))) {
    pollfd end{process_->pidfd(), POLLIN, 0};
    poll(&end, 1, 20);
  }
  if (!process_->ended()) {
    process_->kill();
    return std::nullopt;
  }
  const auto ended = process_->wait();
  if (ended.ending == sandbox::Ending::kSignalled) return signal_in_words(ended.code);
  // bubblewrap passes a signal on as 128 + its number.
  if (ended.code > 128 && ended.code < 128 + 65) return signal_in_words(ended.code - 128);
  return fmt::format("exit({})", ended.code);
}

}  // namespace gradlab
