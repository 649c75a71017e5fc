#include "judge/student_subject.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#include "judge/queue_time.hpp"
#include "runner/batch.hpp"

namespace gradlab {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kReadySeconds = 60;  // LibTorch loads in 0.3 s; a very busy machine may take long
constexpr double kWallPerCpu = 5;     // a call that sleeps burns nothing
constexpr double kOwnWork = 2;        // seconds of CPU that the runner itself may have had
constexpr double kWorthWaiting = 0.5;
constexpr double kMostExcused = 200;        // the command waits longer for a silent judge
constexpr size_t kMostAnswer = 128u << 20;  // bytes of one batch's answers: the judge keeps them

}  // namespace

class StudentSubject::Asking {
 public:
  explicit Asking(RunnerOrder order) : link_(std::move(order)) {
    link_.more_time = [this] { return excused(); };
  }

  void start() {
    link_.start();
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
    // the case that is shown is the one that does it. A hang is plain already.
    if (faulty < seen.size() && cases.size() > 1 && seen[faulty].fault != Fault::kTimeLimit &&
        seen[faulty].fault != Fault::kOutputLimit && seen[faulty].fault != Fault::kNotStarted) {
      auto alone = ask_one_by_one(experiment, cases);
      if (first_fault(alone) < alone.size()) return alone;
      for (size_t i = faulty; i < seen.size(); ++i) {
        seen[i].detail += "; each call alone goes well: what is kept from one to the next?";
      }
    }
    return seen;
  }

  // The runner tells the CPU time, and a hand-in can make it lie; the wall time is counted here.
  bool out_of_time() const { return cpu_seconds_ > order().hand_in_seconds || wall_left() <= 0; }

  std::string load_error;
  const RunnerLink& link() const { return link_; }

 private:
  using Wait = RunnerLink::Wait;
  const RunnerOrder& order() const { return link_.order(); }
  double case_wall() const { return kWallPerCpu * order().case_cpu_seconds; }
  double wall_left() const { return kWallPerCpu * order().hand_in_seconds - wall_seconds_; }

  Wait wait(protocol::Frame& frame) {
    const auto started = Clock::now();
    const double excused_before = excused_seconds_;
    const auto came = link_.wait(frame, std::clamp(wall_left(), 0.0, case_wall()));
    const double took = std::chrono::duration<double>(Clock::now() - started).count();
    wall_seconds_ += std::max(0.0, took - (excused_seconds_ - excused_before));
    return came;
  }

  // A hand-in that is late because it got no core waits for one. Only for so long: a machine that
  // gives none is a fault of the grader, and no time limit.
  double excused() {
    const double more = queue_time_.newly_waited(link_.pid(), order().case_cpu_seconds + kOwnWork);
    if (more < kWorthWaiting) return 0;
    excused_seconds_ += more;
    if (excused_seconds_ > kMostExcused) {
      link_.kill();
      throw RunnerFault(fmt::format(
          "the machine is too busy: in {:.0f} s the hand-in got no core to run on. Grade "
          "again with fewer --jobs, or when less is running",
          excused_seconds_));
    }
    return more;
  }

  // ready -> open -> opened. Constructors of the hand-in run here.
  void open() {
    protocol::Frame frame;
    if (!ready_) {
      if (link_.wait(frame, kReadySeconds) != Wait::kFrame || !frame.head.contains("ready")) {
        throw RunnerFault(fmt::format("the runner did not come up: {} {}",
                                      link_.how_ended().value_or("no answer"),
                                      link_.take_output().substr(0, 400)));
      }
      ready_ = true;
    }
    link_.send(link_.opening(file_name_), case_wall());
    switch (wait(frame)) {
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
                                     "before any task, in constructors of global objects",
                                     case_wall()));
      case Wait::kFlood:
        return break_off(Fault::kOutputLimit, "printed without end while it was loaded");
      case Wait::kMalformed:
        return break_off(Fault::kForged, "wrote into the grader's channel while it was loaded");
      case Wait::kClosed:
        if (const auto how = link_.how_ended()) {
          return break_off(Fault::kCrashed, "the process ended while the file was loaded: " + *how);
        }
        return break_off(Fault::kForged, "closed the grader's channel while it was loaded");
    }
  }

  void break_off(Fault fault, std::string detail) {
    Observation broken;
    broken.fault = fault;
    broken.detail = std::move(detail);
    broken.output = link_.take_output();
    broken_ = broken;
    link_.kill();
  }

  std::vector<Observation> ask(const std::string& experiment, const std::vector<Case>& cases) {
    if (!link_.running()) restart();
    if (broken_) return all_failed(cases.size(), *broken_);
    link_.take_output();
    Batch batch{++batch_id_, experiment, cases};
    std::vector<Observation> seen;
    if (const auto failed = link_.send(batch.to_frame(), case_wall())) {
      return with_fault(std::move(seen), cases.size(),
                        *failed == Wait::kTimeout ? hangs() : closed());
    }
    return collect(cases.size(), std::move(seen));
  }

  std::vector<Observation> collect(size_t count, std::vector<Observation> seen) {
    size_t received = 0;
    for (;;) {
      protocol::Frame frame;
      switch (wait(frame)) {
        case Wait::kFrame:
          break;
        case Wait::kTimeout:
          return with_fault(std::move(seen), count, hangs());
        case Wait::kFlood:
          link_.kill();
          return with_fault(
              std::move(seen), count,
              fault_of(Fault::kOutputLimit,
                       fmt::format("printed more than {} KiB in one case", order().output / 1024)));
        case Wait::kMalformed:
          link_.kill();
          return with_fault(std::move(seen), count, forged());
        case Wait::kClosed:
          return with_fault(std::move(seen), count, closed());
      }
      if (frame.head.contains("end")) return finish(frame.head, count, std::move(seen));
      received += frame.body.size();
      if (received > kMostAnswer || seen.size() == count ||
          frame.head.value("batch", nlohmann::json()) != batch_id_ ||
          frame.head.value("case", nlohmann::json()) != seen.size()) {
        link_.kill();
        return with_fault(std::move(seen), count, forged());
      }
      try {
        seen.push_back(Observation::from_frame(frame));
      } catch (const std::exception&) {
        link_.kill();
        return with_fault(std::move(seen), count, forged());
      }
      seen.back().output = link_.take_output();
    }
  }

  std::vector<Observation> finish(const nlohmann::json& end, size_t count,
                                  std::vector<Observation> seen) {
    const auto how = end.value("how", nlohmann::json());
    const auto code = end.value("code", nlohmann::json());
    if (end.value("end", nlohmann::json()) != batch_id_ || !how.is_string() ||
        !code.is_number_integer()) {
      link_.kill();
      return with_fault(std::move(seen), count, forged());
    }
    if (const auto cpu = end.find("cpu"); cpu != end.end() && cpu->is_number()) {
      cpu_seconds_ += std::max(0.0, cpu->get<double>());
    }
    if (how == "time_limit") {
      return with_fault(std::move(seen), count,
                        fault_of(Fault::kTimeLimit,
                                 fmt::format("{} s of CPU in one case", order().case_cpu_seconds)));
    }
    if (how == "signal") {
      const int signal = code.get<int>();
      if (signal == SIGXCPU)
        return with_fault(std::move(seen), count,
                          fault_of(Fault::kTimeLimit, "ran out of CPU time"));
      return with_fault(std::move(seen), count, fault_of(Fault::kCrashed, signal_in_words(signal)));
    }
    if (seen.size() < count) {
      return with_fault(std::move(seen), count,
                        fault_of(Fault::kCrashed, fmt::format("exit({}) ended the process, "
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
    link_.start();
    ready_ = false;
    open();
  }

  Observation closed() {
    if (const auto how = link_.how_ended()) {
      return fault_of(Fault::kCrashed, "the process around it ended: " + *how);
    }
    return fault_of(Fault::kForged, "closed the grader's channel");
  }
  Observation hangs() {
    link_.kill();
    cpu_seconds_ += order().case_cpu_seconds;
    return fault_of(Fault::kTimeLimit, wall_left() > 0
                                           ? fmt::format("no answer within {} s", case_wall())
                                           : "the hand-in had used all its time");
  }
  Observation forged() { return fault_of(Fault::kForged, "wrote into the grader's channel"); }
  Observation fault_of(Fault fault, std::string detail) {
    Observation seen;
    seen.fault = fault;
    seen.detail = std::move(detail);
    seen.output = link_.take_output();
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

  RunnerLink link_;
  std::string file_name_;
  bool ready_ = false;
  int64_t batch_id_ = 0;
  double cpu_seconds_ = 0;
  double wall_seconds_ = 0;
  QueueTime queue_time_;
  double excused_seconds_ = 0;
  std::optional<Observation> broken_;  // the hand-in cannot be loaded: every run ends like this
};

StudentSubject::StudentSubject(RunnerOrder order)
    : asking_(std::make_unique<Asking>(std::move(order))) {}
StudentSubject::~StudentSubject() = default;

void StudentSubject::start() { asking_->start(); }
void StudentSubject::load(const std::string& file_name) { asking_->load(file_name); }
const std::string& StudentSubject::load_error() const { return asking_->load_error; }
bool StudentSubject::out_of_time() const { return asking_->out_of_time(); }
const std::string& StudentSubject::printed() const { return asking_->link().printed(); }
bool StudentSubject::printed_too_much() const { return asking_->link().printed_too_much(); }

std::vector<Observation> StudentSubject::observe(const std::string& experiment,
                                                 const std::vector<Case>& cases) {
  return asking_->observe(experiment, cases);
}

}  // namespace gradlab
