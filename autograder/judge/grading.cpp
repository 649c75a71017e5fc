#include "judge/grading.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "judge/diagnosis.hpp"
#include "judge/run_check.hpp"
#include "judge/shrink.hpp"
#include "protocol/tensors.hpp"

namespace gradlab {
namespace {

constexpr int64_t kRecordedElements = 4096;
constexpr int kDiagnosisRuns = 1000;  // a few milliseconds each

nlohmann::json failing_of(const Failure& failure, const std::string& check,
                          const std::string& seed) {
  nlohmann::json recorded = {{"check", check}, {"seed", seed}, {"experiment", failure.experiment}};
  if (failure.in) {
    recorded["text"] = failure.in->describe();
    if (failure.in->element_count() <= kRecordedElements) {
      recorded["input"] = failure.in->to_json();
    } else {
      recorded["too_large"] = failure.in->element_count();
    }
  }
  if (failure.mismatch) recorded["where"] = failure.mismatch->where();
  nlohmann::json failing = {{"case", std::move(recorded)}};
  if (failure.mismatch) {
    failure.mismatch->write(failing);
  } else {
    failing["place"] = "the check";
    failing["expected"] = "see the message";
    failing["got"] = failure.text.substr(0, 400);
  }
  return failing;
}

// A hand-in can make its trace as long as it likes.
nlohmann::json lines_of(const std::string& trace) {
  constexpr size_t kMostLines = 400;
  constexpr size_t kLongestLine = 60;
  nlohmann::json lines = nlohmann::json::array();
  std::istringstream in(trace);
  for (std::string line; lines.size() < kMostLines && std::getline(in, line);) {
    lines.push_back(line.substr(0, kLongestLine));
  }
  return lines;
}

class Grading {
 public:
  Grading(Subject& judged, Subject& reference, const GradingOrder& order, const Emit& emit)
      : judged_(judged), reference_(reference), order_(order), emit_(emit) {}

  void run(const std::string& seed) {
    CheckContext context(judged_, reference_, seed);
    shrinking_.emplace(judged_, reference_, seed);
    judged_checks_.clear();
    told_.clear();
    std::map<int, int> hangs;  // by task
    std::vector<CheckOrder> later;
    for (const auto& check : order_.checks) {
      // A task that hangs waits until the others are done: it must not use up their time.
      if (hangs[check.task] >= 2) {
        later.push_back(check);
        continue;
      }
      if (one(context, check, seed) == "time_limit") ++hangs[check.task];
    }
    for (const auto& check : later) one(context, check, seed);
  }

  // Smaller cases for the failures that could wait until the verdicts were out.
  void shrink(const std::string& seed) {
    for (const auto& [failure, at] : shrink_later_) {
      const auto& judged = judged_checks_[at];
      const auto smaller = shrinking_->smallest(failure, judged.asked, judged.check, judged.task);
      emit_({{"event", "smaller"},
             {"name", judged.check},
             {"failing", shown(smaller, judged.check, seed)}});
    }
  }

  // Checks that passed or failed: what a diagnosis goes by.
  const std::vector<Judged>& judged() const { return judged_checks_; }

 private:
  std::string one(CheckContext& context, const CheckOrder& check, const std::string& seed) {
    nlohmann::json event = {{"event", "check"}, {"name", check.name}};
    if (order_.out_of_time()) {
      event["verdict"] = "time_limit";
      event["message"] = "not run: the hand-in had used all its time";
      event["seconds"] = 0.0;
      emit_(event);
      return "time_limit";
    }
    const auto outcome = run_check(context, check.name, check.task);
    event["verdict"] = outcome.verdict;
    event["message"] = outcome.message;
    event["seconds"] = outcome.seconds;
    if (context.closest) event["closest"] = *context.closest;
    if (outcome.verdict == "fail") {
      Failure failure = *context.smallest();
      if (!is_audit() && first_of_task(check.task)) {
        failure = shrinking_->smallest(failure, context.asked, check.name, check.task);
      } else if (!is_audit()) {
        shrink_later_.push_back({failure, judged_checks_.size()});
      }
      event["failing"] = shown(failure, check.name, seed);
      event["output"] = failure.output;
      judged_checks_.push_back({check.name, check.task, false, context.asked});
    } else if (outcome.verdict == "pass") {
      judged_checks_.push_back({check.name, check.task, true, {}});
    } else if (context.faulty) {
      event["output"] = context.faulty->output;
      // What is not written yet has no case that is worth a look.
      if (context.fault != Fault::kNotStarted) {
        first_of_task(check.task);
        event["failing"] = failing_of(*context.faulty, check.name, seed);
      }
    }
    emit_(event);
    return outcome.verdict;
  }

  // An audit looks at verdicts alone.
  bool is_audit() const { return order_.seeds.size() > 1; }

  // The first failure of each task is what a student reads in full: no other waits for it.
  bool first_of_task(int task) { return told_.insert(task).second; }

  nlohmann::json shown(const Failure& failure, const std::string& check, const std::string& seed) {
    auto failing = failing_of(failure, check, seed);
    // What was called beside what the reference calls, where the lab's experiment records it.
    if (!failure.trace.empty() && failure.in) {
      const auto want = reference_.observe(failure.experiment, {*failure.in}).front();
      failing["case"]["trace"] = {{"got", lines_of(failure.trace)},
                                  {"expected", lines_of(trace_of(want))}};
    }
    return failing;
  }

  Subject& judged_;
  Subject& reference_;
  const GradingOrder& order_;
  const Emit& emit_;
  std::optional<Shrinking> shrinking_;
  std::vector<Judged> judged_checks_;
  std::set<int> told_;  // the tasks of which a failure was emitted
  struct Waiting {
    Failure failure;
    size_t at;  // in judged_checks_
  };
  std::vector<Waiting> shrink_later_;
};

}  // namespace

void grade(Subject& judged, Subject& reference, const GradingOrder& order, const Emit& emit) {
  Grading grading(judged, reference, order, emit);
  for (const auto& seed : order.seeds) {
    if (order.seeds.size() > 1) emit({{"event", "seed"}, {"seed", seed}});
    grading.run(seed);
  }
  emit({{"event", "verdicts_done"}});
  grading.shrink(order.seeds.front());
  if (!order.diagnose || order.seeds.size() > 1) return;
  for (const auto& diagnosis : diagnose(grading.judged(), kDiagnosisRuns)) {
    for (const auto* bug : diagnosis.bugs) {
      emit({{"event", "diagnosis"},
            {"check", diagnosis.check},
            {"bug", bug->name},
            {"belief", bug->belief},
            {"hint", bug->hint}});
    }
  }
}

namespace {

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The value at a recorded place, as text and, where it is one, as a number.
std::pair<std::string, std::optional<double>> value_at(const Observation& seen,
                                                       const nlohmann::json& where) {
  const auto name = where.at("value").get<std::string>();
  if (name == "the call") return {"it returns", std::nullopt};
  if (seen.all_words().contains(name)) return {seen.word(name), std::nullopt};
  if (seen.all_numbers().contains(name)) {
    return {shown(seen.number(name)), seen.number(name)};
  }
  if (!seen.all_tensors().contains(name)) return {"nothing", std::nullopt};
  const auto index = where.at("tensor").get<int64_t>();
  const auto& list = seen.tensors(name);
  if (index < 0 || index >= static_cast<int64_t>(list.size())) {
    return {fmt::format("{} tensors", list.size()), std::nullopt};
  }
  torch::Tensor at = list[static_cast<size_t>(index)];
  if (!at.defined()) return {"none", std::nullopt};
  for (const auto& i : where.at("element")) {
    if (at.dim() == 0 || i.get<int64_t>() >= at.size(0)) return {"another shape", std::nullopt};
    at = at.select(0, i.get<int64_t>());
  }
  if (at.numel() != 1) return {"a tensor", std::nullopt};
  const double value = at.item<double>();
  return {shown(value, at.scalar_type()), value};
}

}  // namespace

void replay(Subject& judged, const nlohmann::json& failing, const Emit& emit) {
  const auto& recorded = failing.at("case");
  const Case in = Case::from_json(recorded.at("input"));
  const auto seen = judged.observe(recorded.at("experiment").get<std::string>(), {in}).front();
  nlohmann::json event = {{"event", "replay"}};
  std::string text;
  std::optional<double> number;
  if (seen.fault != Fault::kNone) {
    text = seen.fault == Fault::kNotStarted ? "not started: " + seen.task : seen.detail;
  } else if (!seen.threw.empty()) {
    text = "it threw " + seen.threw;
  } else {
    std::tie(text, number) = value_at(seen, recorded.at("where"));
  }
  const auto& where = recorded.at("where");
  bool same = text == failing.at("got").get<std::string>();
  bool passes = text == failing.at("expected").get<std::string>();
  if (number && where.contains("expected")) {
    const double expected = protocol::number_from_json(where.at("expected"));
    const double allowed =
        failing.contains("allowed") ? protocol::number_from_json(failing.at("allowed")) : 0;
    passes = std::abs(*number - expected) <= allowed || same_number(*number, expected);
    text = shown_apart(expected, *number).second;
    if (where.contains("got")) {
      same = same_number(*number, protocol::number_from_json(where.at("got")));
    }
    // In the record's own words, where it has some: "false" and not 0.
    if (same || passes) text = failing.at(same ? "got" : "expected").get<std::string>();
  }
  event["got"] = text;
  event["same"] = same;
  event["passes"] = passes;
  event["output"] = seen.output;
  emit(event);
}

}  // namespace gradlab
