#include "judge/server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "judge/built_in.hpp"
#include "judge/grading.hpp"
#include "judge/implementations.hpp"
#include "judge/own_run.hpp"
#include "judge/rehearsal.hpp"
#include "judge/student_subject.hpp"

namespace gradlab {
namespace {

// One line, byte by byte: what follows it belongs to the child that is forked next.
std::optional<std::string> read_line() {
  std::string line;
  char c = 0;
  while (read(STDIN_FILENO, &c, 1) == 1) {
    if (c == '\n') return line;
    line.push_back(c);
  }
  return std::nullopt;
}

void write_line(const nlohmann::json& event) {
  std::string line = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);  // nobody listens
    done += static_cast<size_t>(n);
  }
}

GradingOrder grading_order(const nlohmann::json& order) {
  GradingOrder grading;
  for (const auto& check : order.at("checks")) {
    grading.checks.push_back({check.at("name").get<std::string>(), check.at("task").get<int>()});
  }
  if (const auto seeds = order.find("seeds"); seeds != order.end()) {
    grading.seeds = seeds->get<std::vector<std::string>>();
  } else {
    grading.seeds = {order.at("seed").get<std::string>()};
  }
  grading.diagnose = order.value("diagnose", true);
  return grading;
}

RunnerOrder runner_order(const nlohmann::json& order) {
  RunnerOrder runner;
  runner.runner = order.at("runner").get<std::string>();
  runner.torch = order.at("torch").get<std::string>();
  runner.cuda_libs = order.value("cuda_libs", "");
  runner.libraries = order.value("libraries", "");
  runner.functions = order.value("functions", "");
  runner.library_dir = order.at("library_dir").get<std::string>();
  const auto isolation = sandbox::isolation_from(order.at("isolation").get<std::string>());
  if (!isolation) throw std::runtime_error("an order with an unknown isolation");
  runner.isolation = *isolation;
  const auto& limits = order.at("limits");
  runner.case_cpu_seconds = limits.at("case_cpu_seconds").get<double>();
  runner.hand_in_seconds = limits.at("hand_in_seconds").get<double>();
  runner.address_space = limits.at("memory_mib").get<uint64_t>() * sandbox::kMiB;
  runner.processes = limits.at("processes").get<int>();
  runner.output = limits.at("output_kib").get<size_t>() * 1024;
  return runner;
}

bool a_line_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

// Starts the runner at once and waits for the library's name, which may come later: the compile
// runs meanwhile, and so does `meanwhile`. False when the hand-in turned out not to compile.
bool bring_up(StudentSubject& student, const nlohmann::json& order,
              const std::function<void()>& meanwhile) {
  student.start();
  std::string library;
  if (const auto now = order.find("library"); now != order.end() && now->is_string()) {
    library = now->get<std::string>();
  } else {
    meanwhile();
    const auto line = read_line();
    if (!line) return false;
    const auto go = nlohmann::json::parse(*line);
    if (!go.contains("library")) return false;
    library = go.at("library").get<std::string>();
  }
  student.load(library);
  return true;
}

// The reference's answers to one class's questions: made once, by the parent of all children.
class Prepared {
 public:
  Prepared() : answer_(subject_in_process(implementations().reference)), reference_(*answer_) {}

  // For an order whose hand-in is compiled already; nobody waits for another hand-in's order.
  void prepare(const nlohmann::json& order) {
    const auto key = std::make_pair(order.at("seed"), order.at("checks"));
    if (done_ == key) return;
    reference_.forget();
    rehearse(reference_, grading_order(order), [] { return true; });
    done_ = key;
  }
  Remembering& reference() { return reference_; }

 private:
  std::unique_ptr<Subject> answer_;
  Remembering reference_;
  std::pair<nlohmann::json, nlohmann::json> done_;
};

// From the start of the runner to the last event; `judge` is called with the hand-in loaded.
void run_student(StudentSubject& student, const nlohmann::json& order,
                 const std::function<void()>& meanwhile, const std::function<void()>& judge) {
  if (!bring_up(student, order, meanwhile)) return;
  if (student.load_error().empty()) {
    judge();
  } else {
    write_line({{"event", "load_failed"}, {"why", student.load_error()}});
  }
  write_line({{"event", "end"},
              {"student_output", student.printed()},
              {"output_cut", student.printed_too_much()}});
}

void grade_student(const nlohmann::json& order, Remembering& reference) {
  StudentSubject student(runner_order(order));
  GradingOrder grading = grading_order(order);
  grading.out_of_time = [&] { return student.out_of_time(); };
  run_student(
      student, order, [&] { rehearse(reference, grading, [] { return !a_line_waits(); }); },
      [&] { grade(student, reference, grading, write_line); });
}

// Without the reference.
void replay_student(const nlohmann::json& order) {
  StudentSubject student(runner_order(order));
  run_student(student, order, [] {}, [&] { replay(student, order.at("replay"), write_line); });
}

// Likewise.
void run_training(const nlohmann::json& order) {
  StudentSubject student(runner_order(order));
  run_student(
      student, order, [] {},
      [&] { run_own(student, order.at("seed").get<std::string>(), write_line); });
}

void serve_one(const nlohmann::json& order, Remembering& reference) {
  if (order.contains("replay")) return replay_student(order);
  if (order.contains("training_run")) return run_training(order);
  if (!implementations().reference) {
    throw std::runtime_error(
        "this copy holds no reference for the lab, so there is nothing to compare with: take a "
        "copy with reference/, or replay a record");
  }
  const auto subject = order.value("subject", "student");
  if (subject == "student") return grade_student(order, reference);
  const auto judged = subject_in_child(built_in(subject));
  const auto answer = subject_in_process(implementations().reference);
  grade(*judged, *answer, grading_order(order), write_line);
  write_line({{"event", "end"}, {"student_output", ""}, {"output_cut", false}});
}

bool is_compiled_hand_in(const nlohmann::json& order) {
  return implementations().reference && order.value("subject", "student") == "student" &&
         order.contains("checks") && !order.contains("replay") && !order.contains("training_run") &&
         !order.contains("seeds") && order.value("library", nlohmann::json()).is_string();
}

[[noreturn]] void child_main(const nlohmann::json& order, Remembering& reference) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    serve_one(order, reference);
  } catch (const std::exception& error) {
    write_line({{"event", "grader_error"}, {"message", error.what()}});
  }
  _exit(0);
}

}  // namespace

int serve_orders() {
  Prepared prepared;
  while (const auto line = read_line()) {
    nlohmann::json order = nlohmann::json::parse(*line, nullptr, false);
    // A line for a child that ended before it read it.
    if (!order.is_object() || !order.contains("limits")) continue;
    if (is_compiled_hand_in(order)) prepared.prepare(order);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) child_main(order, prepared.reference());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
      write_line({{"event", "died"}, {"status", "the judge could not fork"}});
    } else if (WIFSIGNALED(status)) {
      write_line({{"event", "died"}, {"status", fmt::format("signal {}", WTERMSIG(status))}});
    } else {
      write_line({{"event", "done"}});
    }
  }
  return 0;
}

}  // namespace gradlab
