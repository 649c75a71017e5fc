#include "pipeline/pipeline.hpp"

#include <string>

#include "pipeline/run.hpp"

namespace gradlab::pipeline {

using record::Verdict;

Worker::Worker(const Manifest& lab, const Setup& setup)
    : lab_(lab),
      setup_(setup),
      compiler_(setup.toolchain, setup.isolation),
      judge_(setup.build + "/bin/judge_" + lab.slug, setup.stop) {}
Worker::~Worker() = default;

void Worker::warm_up() { judge_.start(); }

Record Worker::grade(const Job& job) {
  Run run(*this, job.start);
  run.on_verdicts = job.on_verdicts;
  auto order = run.order(job.start);
  order["diagnose"] = job.diagnose;
  run.compile_and_judge(job.hand_in, std::move(order), job.overlap);
  return run.finish();
}

Record Worker::grade_built_in(const std::string& subject, const record::Start& start,
                              bool diagnose) {
  Run run(*this, start);
  auto order = run.order(start);
  order["subject"] = subject;
  order["diagnose"] = diagnose;
  run.judge(order);
  return run.finish();
}

namespace {

// Gathers the events of a grading with several seeds into one settled record a seed.
class Seeds {
 public:
  Seeds(const Manifest& lab, record::Start start) : lab_(lab), start_(std::move(start)) {}

  void take(const nlohmann::json& event) {
    const auto kind = event.value("event", "");
    if (kind == "seed") {
      start_.seed = event.at("seed").get<std::string>();
      records_.push_back(record::new_record(lab_, start_));
    } else if (kind == "check" && !records_.empty()) {
      record::apply(records_.back(), event);
    }
  }

  Audit result(const std::vector<std::string>& seeds) {
    Audit audit{seeds, {}, {}};
    for (size_t i = 0; i < seeds.size(); ++i) {
      if (i >= records_.size()) records_.push_back(record::new_record(lab_, start_));
      record::settle(records_[i]);
      audit.scores.push_back(records_[i].score);
      auto& names = audit.not_passing.emplace_back();
      for (const auto& task : records_[i].tasks) {
        for (const auto& check : task.checks) {
          if (check.verdict != Verdict::kPass) names.push_back(check.name);
        }
      }
    }
    return audit;
  }

 private:
  const Manifest& lab_;
  record::Start start_;
  std::vector<Record> records_;
};

// Two at least: a single seed would be graded as an ordinary order, without seed events.
std::vector<std::string> at_least_two(std::vector<std::string> seeds) {
  if (seeds.size() == 1) seeds.push_back(seeds.front());
  return seeds;
}

}  // namespace

Audit Worker::audit(const Job& job, const std::vector<std::string>& seeds) {
  Run run(*this, job.start);
  Seeds gathered(lab_, job.start);
  run.on_event = [&](const nlohmann::json& event) { gathered.take(event); };
  auto order = run.order(job.start);
  order["seeds"] = at_least_two(seeds);
  // The limit is that of one grading.
  order["limits"]["hand_in_seconds"] =
      lab_.limits.hand_in_seconds * static_cast<double>(order["seeds"].size());
  order["diagnose"] = false;
  run.compile_and_judge(job.hand_in, std::move(order), false);
  return gathered.result(seeds);
}

Audit Worker::audit_built_in(const std::string& subject, const std::vector<std::string>& seeds) {
  const record::Start start{subject, seeds.front(), "none", true, 1, std::nullopt};
  Run run(*this, start);
  Seeds gathered(lab_, start);
  run.on_event = [&](const nlohmann::json& event) { gathered.take(event); };
  auto order = run.order(start);
  order["subject"] = subject;
  order["seeds"] = at_least_two(seeds);
  order["diagnose"] = false;
  run.judge(order);
  return gathered.result(seeds);
}

Worker::Replayed Worker::replay(const intake::HandIn& hand_in, const record::Failing& failing) {
  const record::Start start{hand_in.student, "replay", sandbox::to_string(setup_.isolation),
                            false,           1,        std::nullopt};
  Run run(*this, start);
  Replayed replayed;
  bool answered = false;
  run.on_event = [&](const nlohmann::json& event) {
    if (event.value("event", "") != "replay") return;
    answered = true;
    replayed.got = event.value("got", "");
    replayed.same = event.value("same", false);
    replayed.passes = event.value("passes", false);
  };
  auto order = run.order(start);
  order["replay"] = {{"case", failing.input}, {"expected", failing.expected}, {"got", failing.got}};
  if (failing.allowed) order["replay"]["allowed"] = *failing.allowed;
  run.compile_and_judge(hand_in, std::move(order), true);
  const Record record = run.finish();
  if (!answered) {
    replayed.problem = record.message.empty() ? "the hand-in gave no answer" : record.message;
  }
  return replayed;
}

Worker::Trained Worker::train(const intake::HandIn& hand_in, const std::string& seed) {
  const record::Start start{hand_in.student, seed, sandbox::to_string(setup_.isolation),
                            false,           1,    std::nullopt};
  Run run(*this, start);
  Trained trained;
  run.on_event = [&](const nlohmann::json& event) {
    const auto kind = event.value("event", "");
    if (kind == "line") trained.lines.push_back(event.value("line", ""));
    if (kind == "no_run") {
      trained.problem = event.value("why", "");
      trained.offered = event.value("offered", true);
    }
  };
  auto order = run.order(start);
  order["training_run"] = true;
  run.compile_and_judge(hand_in, std::move(order), true);
  const Record record = run.finish();
  if (trained.problem.empty() && trained.lines.empty()) {
    trained.problem = record.message.empty() ? "the hand-in gave no answer" : record.message;
  }
  return trained;
}

}  // namespace gradlab::pipeline
