#include "judge/student_subject.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cxxabi.h>

#include "runner/batch.hpp"

namespace gradlab {
namespace {

using Clock = std::chrono::steady_clock;  // a clock that jumps must not cost a student anything

constexpr double kReadySeconds = 60;  // LibTorch loads in 0.3 s; a very busy machine may take long
constexpr protocol::FrameLimits kReplyLimits{256u << 10, 64u << 20};

std::string signal_in_words(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "crashed: a bad memory access (SIGSEGV)";
    case SIGABRT:
      return "crashed: abort() (SIGABRT), as after an exception that nothing catches";
    case SIGFPE:
      return "crashed: a bad arithmetic operation (SIGFPE)";
    case SIGKILL:
      return "was killed (SIGKILL)";
    default:
      return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
  }
}

}  // namespace

class StudentSubject::Link {
 public:
  explicit Link(RunnerOrder order) : order_(std::move(order)) {}

  void start() {
    decoder_.clear();
    process_.emplace(sandbox::Process::start(command(), order_.isolation));
    const int flags = fcntl(process_->channel(), F_GETFL);
    fcntl(process_->channel(), F_SETFL, flags | O_NONBLOCK);
    ready_ = false;
  }

  void load(const std::string& file_name) {
    file_name_ = file_name;
    open();
  }

  std::vector<Observation> observe(const std::string& experiment, const std::vector<Case>& cases) {
    if (broken_) return all_failed(cases.size(), *broken_);
    auto seen = ask(experiment, cases);
    const auto faulty = first_fault(seen);
    // Crashes, memory and forgery are decided case by case, each in a process of its own, so that
    // what one case left behind is not charged to the next. A hang is plain already.
    if (faulty < seen.size() && cases.size() > 1 && seen[faulty].fault != Fault::kTimeLimit &&
        seen[faulty].fault != Fault::kOutputLimit && seen[faulty].fault != Fault::kNotStarted) {
      seen = ask_one_by_one(experiment, cases);
    }
    return seen;
  }

  std::string load_error;
  std::string printed;
  bool printed_too_much = false;
  double cpu_seconds = 0;
  const RunnerOrder& order() const { return order_; }

 private:
  // What a wait for the next frame came to.
  enum class Wait { kFrame, kClosed, kTimeout, kFlood, kMalformed };

  sandbox::Command command() const {
    sandbox::Command command;
    command.for_runner = true;
    command.mounts = {{order_.runner, "/box/runner"},
                      {order_.torch + "/lib", "/opt/libtorch/torch/lib"},
                      {order_.library_dir, "/in"}};
    if (!order_.cuda_libs.empty()) {
      command.mounts.push_back({order_.cuda_libs, "/opt/libtorch/cuda"});
    }
    const bool isolated = order_.isolation != sandbox::Isolation::kNone;
    const auto inside = [&](const char* path) {
      return sandbox::path_inside(command, order_.isolation, path);
    };
    command.argv = {inside("/box/runner"), isolated ? "--isolated" : "--alone"};
    std::string libraries = inside("/opt/libtorch/torch/lib");
    if (!order_.cuda_libs.empty()) libraries += ":" + inside("/opt/libtorch/cuda");
    command.environment = {{"LD_LIBRARY_PATH", libraries}, {"OMP_NUM_THREADS", "1"}};
    command.limits.wall_seconds = 3600;  // the judge keeps its own, shorter times
    command.limits.tmpfs = 16 * sandbox::kMiB;
    command.limits.output = SIZE_MAX;
    return command;
  }

  // ready -> open -> opened. Constructors of the hand-in run here.
  void open() {
    protocol::Frame frame;
    if (!ready_) {
      if (wait(frame, kReadySeconds) != Wait::kFrame || !frame.head.contains("ready")) {
        const auto ended = process_->wait();
        throw RunnerFault(fmt::format("the runner did not come up: {} {}", ended.why,
                                      output_.substr(0, 400)));
      }
      ready_ = true;
    }
    sandbox::Command places = command();
    const nlohmann::json order = {
        {"library", sandbox::path_inside(places, order_.isolation, "/in/" + file_name_)},
        {"case_cpu_seconds", order_.case_cpu_seconds},
        {"hand_in_seconds", order_.hand_in_seconds},
        {"address_space", order_.address_space},
        {"processes", order_.isolation == sandbox::Isolation::kNone ? 0 : order_.processes}};
    send({order, {}});
    const double wall = 5 * order_.case_cpu_seconds;
    switch (wait(frame, wall)) {
      case Wait::kFrame:
        if (frame.head.value("opened", nlohmann::json(false)) == true) return;
        if (frame.head.contains("why") && frame.head["why"].is_string()) {
          load_error = frame.head["why"].get<std::string>().substr(0, 2000);
          break_off(Fault::kCrashed, "could not be loaded");
        } else {
          break_off(Fault::kForged, "answered out of turn while it was loaded");
        }
        return;
      case Wait::kTimeout:
        return break_off(Fault::kTimeLimit,
                         fmt::format("did not finish loading within {} s: look at what runs "
                                     "before any task, in constructors of global objects", wall));
      case Wait::kFlood:
        return break_off(Fault::kOutputLimit, "printed without end while it was loaded");
      case Wait::kMalformed:
        return break_off(Fault::kForged, "wrote into the grader's channel while it was loaded");
      case Wait::kClosed:
        return break_off(Fault::kCrashed, "ended the process while it was loaded: " + how_ended());
    }
  }

  void break_off(Fault fault, std::string detail) {
    Observation broken;
    broken.fault = fault;
    broken.detail = std::move(detail);
    broken.output = take_output();
    broken_ = broken;
    process_->kill();
  }

  std::string how_ended() {
    const auto ended = process_->wait();
    if (ended.ending == sandbox::Ending::kSignalled) return signal_in_words(ended.code);
    // bubblewrap passes a signal on as 128 + its number.
    if (ended.code > 128 && ended.code < 128 + 65) return signal_in_words(ended.code - 128);
    return fmt::format("exit({})", ended.code);
  }

  std::vector<Observation> ask(const std::string& experiment, const std::vector<Case>& cases) {
    if (!process_ || process_->ended()) restart();
    if (broken_) return all_failed(cases.size(), *broken_);
    take_output();
    Batch batch{++batch_id_, experiment, cases};
    std::vector<Observation> seen;
    if (!send(batch.to_frame())) return with_fault(std::move(seen), cases.size(), closed());
    return collect(cases.size(), std::move(seen));
  }

  std::vector<Observation> collect(size_t count, std::vector<Observation> seen) {
    const double wall = 5 * order_.case_cpu_seconds;
    for (;;) {
      protocol::Frame frame;
      switch (wait(frame, wall)) {
        case Wait::kFrame:
          break;
        case Wait::kTimeout:
          process_->kill();
          cpu_seconds += order_.case_cpu_seconds;
          return with_fault(std::move(seen), count,
                            fault_of(Fault::kTimeLimit, fmt::format("no answer within {} s", wall)));
        case Wait::kFlood:
          process_->kill();
          return with_fault(std::move(seen), count,
                            fault_of(Fault::kOutputLimit,
                                     fmt::format("printed more than {} KiB in one case",
                                                 order_.output / 1024)));
        case Wait::kMalformed:
          process_->kill();
          return with_fault(std::move(seen), count, forged());
        case Wait::kClosed:
          return with_fault(std::move(seen), count, closed());
      }
      if (frame.head.contains("end")) return finish(frame.head, count, std::move(seen));
      if (seen.size() == count || frame.head.value("batch", nlohmann::json()) != batch_id_ ||
          frame.head.value("case", nlohmann::json()) != seen.size()) {
        process_->kill();
        return with_fault(std::move(seen), count, forged());
      }
      try {
        seen.push_back(Observation::from_frame(frame));
      } catch (const std::exception&) {
        process_->kill();
        return with_fault(std::move(seen), count, forged());
      }
      seen.back().output = take_output();
    }
  }

  std::vector<Observation> finish(const nlohmann::json& end, size_t count,
                                  std::vector<Observation> seen) {
    const auto how = end.value("how", nlohmann::json());
    const auto code = end.value("code", nlohmann::json());
    if (end.value("end", nlohmann::json()) != batch_id_ || !how.is_string() ||
        !code.is_number_integer()) {
      process_->kill();
      return with_fault(std::move(seen), count, forged());
    }
    if (const auto cpu = end.find("cpu"); cpu != end.end() && cpu->is_number()) {
      cpu_seconds += std::max(0.0, cpu->get<double>());
    }
    if (how == "time_limit") {
      return with_fault(std::move(seen), count,
                        fault_of(Fault::kTimeLimit, fmt::format("hangs: {} s of CPU in one case",
                                                                order_.case_cpu_seconds)));
    }
    if (how == "signal") {
      const int signal = code.get<int>();
      if (signal == SIGXCPU) return with_fault(std::move(seen), count, fault_of(Fault::kTimeLimit, "ran out of CPU time"));
      return with_fault(std::move(seen), count, fault_of(Fault::kCrashed, signal_in_words(signal)));
    }
    if (seen.size() < count) {
      return with_fault(std::move(seen), count,
                        fault_of(Fault::kCrashed, fmt::format("ended the process with exit({}) "
                                                              "instead of returning",
                                                              code.get<int>())));
    }
    return seen;
  }

  std::vector<Observation> ask_one_by_one(const std::string& experiment,
                                          const std::vector<Case>& cases) {
    std::vector<Observation> seen;
    for (const auto& in : cases) {
      auto one = ask(experiment, {in});
      seen.push_back(one.front());
      if (one.front().fault != Fault::kNone) {
        return with_fault(std::move(seen), cases.size(), one.front());
      }
    }
    return seen;
  }

  void restart() {
    start();
    open();
  }

  Observation closed() {
    return fault_of(Fault::kCrashed, "ended the runner: " + how_ended());
  }
  Observation forged() {
    return fault_of(Fault::kForged, "wrote into the grader's channel");
  }
  Observation fault_of(Fault fault, std::string detail) {
    Observation seen;
    seen.fault = fault;
    seen.detail = std::move(detail);
    seen.output = take_output();
    return seen;
  }
  static size_t first_fault(const std::vector<Observation>& seen) {
    size_t i = 0;
    while (i < seen.size() && seen[i].fault == Fault::kNone) ++i;
    return i;
  }
  static std::vector<Observation> with_fault(std::vector<Observation> seen, size_t count,
                                             const Observation& fault) {
    while (seen.size() < count) seen.push_back(fault);
    if (first_fault(seen) == count && count > 0) seen.back() = fault;
    return seen;
  }
  static std::vector<Observation> all_failed(size_t count, const Observation& fault) {
    return std::vector<Observation>(count, fault);
  }

  // Writes while also reading, so that a runner that talks before it listens cannot block us.
  bool send(const protocol::Frame& frame) {
    const std::string bytes = protocol::encode(frame);
    const auto until = Clock::now() + std::chrono::seconds(60);
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::send(process_->channel(), bytes.data() + done, bytes.size() - done,
                               MSG_NOSIGNAL);
      if (n > 0) {
        done += static_cast<size_t>(n);
        continue;
      }
      if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (Clock::now() > until) return false;
      pollfd ends[2] = {{process_->channel(), POLLOUT, 0}, {process_->output(), POLLIN, 0}};
      poll(ends, 2, 1000);
      if (ends[1].revents != 0) drain_output();
    }
    return true;
  }

  Wait wait(protocol::Frame& frame, double seconds) {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
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
      if (left <= 0) return Wait::kTimeout;
      pollfd ends[2] = {{process_->channel(), POLLIN, 0},
                        {process_->output(), static_cast<short>(output_open_ ? POLLIN : 0), 0}};
      poll(ends, 2, static_cast<int>(left * 1000) + 1);
      if (ends[1].revents != 0) {
        drain_output();
        if (output_.size() > order_.output) return Wait::kFlood;
      }
      if (ends[0].revents == 0) continue;
      const ssize_t n = read(process_->channel(), chunk.data(), chunk.size());
      if (n > 0) {
        decoder_.feed(std::string_view(chunk.data(), static_cast<size_t>(n)));
      } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        drain_output();
        return decoder_.empty() ? Wait::kClosed : Wait::kMalformed;
      }
    }
  }

  void drain_output() {
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

  std::string take_output() {
    drain_output();
    std::string text = std::move(output_);
    output_.clear();
    const size_t room = order_.output - std::min(order_.output, printed.size());
    if (text.size() > room) printed_too_much = true;
    printed += text.substr(0, room);
    return text.substr(0, order_.output);
  }

  RunnerOrder order_;
  std::optional<sandbox::Process> process_;
  protocol::FrameDecoder decoder_{kReplyLimits};
  std::string file_name_;
  std::string output_;
  bool output_open_ = true;
  bool ready_ = false;
  int64_t batch_id_ = 0;
  std::optional<Observation> broken_;  // the hand-in cannot be loaded: every run ends like this
};

StudentSubject::StudentSubject(RunnerOrder order)
    : link_(std::make_unique<Link>(std::move(order))) {}
StudentSubject::~StudentSubject() = default;

void StudentSubject::start() { link_->start(); }
void StudentSubject::load(const std::string& file_name) { link_->load(file_name); }
const std::string& StudentSubject::load_error() const { return link_->load_error; }
bool StudentSubject::out_of_time() const {
  return link_->cpu_seconds > link_->order().hand_in_seconds;
}
const std::string& StudentSubject::printed() const { return link_->printed; }
bool StudentSubject::printed_too_much() const { return link_->printed_too_much; }

std::vector<Observation> StudentSubject::observe(const std::string& experiment,
                                                 const std::vector<Case>& cases) {
  return link_->observe(experiment, cases);
}

}  // namespace gradlab
