#include "pipeline/pipeline.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "pipeline/work_folder.hpp"
#include "record/sha256.hpp"

namespace gradlab::pipeline {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
using record::Verdict;

// The judge keeps the hand-in's own times; this is the longest that it may be silent before the
// judge itself counts as hung.
constexpr double kJudgeSilence = 300;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

record::Diagnostic to_record(const compile::Diagnostic& from) {
  return {from.file, from.line, from.column, from.message, from.excerpt, from.hint};
}

std::vector<record::Diagnostic> to_record(const std::vector<compile::Diagnostic>& from) {
  std::vector<record::Diagnostic> all;
  for (const auto& diagnostic : from) all.push_back(to_record(diagnostic));
  return all;
}

void refuse_for(Record& record, const compile::Compiled& compiled) {
  switch (compiled.outcome) {
    case compile::Compiled::kForbidden:
      return record::refuse(record, Verdict::kForbidden,
                            compiled.note.empty() ? "it uses what this lab asks you to write"
                                                  : compiled.note,
                            to_record(compiled.diagnostics));
    case compile::Compiled::kGraderError:
      return record::refuse(record, Verdict::kGraderError, compiled.note);
    case compile::Compiled::kTimeLimit:
      return record::refuse(record, Verdict::kCompileError, "the compiler ran out of its time");
    case compile::Compiled::kMemoryLimit:
      return record::refuse(record, Verdict::kCompileError, "the compiler ran out of its memory");
    case compile::Compiled::kOutputLimit:
      return record::refuse(record, Verdict::kCompileError,
                            "the compiler printed without end: a file that includes itself?",
                            to_record(compiled.diagnostics));
    default:
      return record::refuse(record, Verdict::kCompileError, "it does not compile",
                            to_record(compiled.diagnostics));
  }
}

nlohmann::json limits_of(const manifest::Limits& limits) {
  return {{"case_cpu_seconds", limits.case_cpu_seconds},
          {"hand_in_seconds", limits.hand_in_seconds},
          {"memory_mib", limits.memory_mib},
          {"output_kib", limits.output_kib},
          {"processes", limits.processes}};
}

}  // namespace

std::string demangle_words(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t start = text.find("_Z", at);
    if (start == std::string::npos) return out + text.substr(at);
    size_t end = start;
    while (end < text.size() && (isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) {
      ++end;
    }
    int status = 0;
    char* name = abi::__cxa_demangle(text.substr(start, end - start).c_str(), nullptr, nullptr,
                                     &status);
    out += text.substr(at, start - at);
    out += status == 0 ? std::string(name) : text.substr(start, end - start);
    free(name);
    at = end;
  }
  return out;
}

record::Grader describe_grader(const Manifest& lab, const Setup& setup) {
  const fs::path root = setup.root;
  std::string all = bytes_of(lab.directory / "lab.toml") +
                    bytes_of(lab.directory / (lab.slug + ".hpp"));
  for (const char* room : {"autograder/experiments", "autograder/checks", "reference"}) {
    std::vector<fs::path> files;
    const fs::path place = root / room / lab.slug;
    if (fs::exists(place)) {
      for (const auto& entry : fs::recursive_directory_iterator(place)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    }
    if (const auto one = root / room / (lab.slug + ".cpp"); fs::exists(one)) files.push_back(one);
    std::sort(files.begin(), files.end());
    for (const auto& file : files) all += bytes_of(file);
  }
  record::Grader grader;
  grader.version = GRADLAB_VERSION;
  grader.checks_sha256 = record::sha256(all);
  grader.torch = setup.toolchain.torch_version;
  grader.compiler = setup.toolchain.compiler_version;
  return grader;
}

// One order to the judge, from its first line to the last event.
class Worker::Run {
 public:
  Run(Worker& worker, const record::Start& start)
      : worker_(worker), record_(record::new_record(worker.lab_, start)), started_(Clock::now()) {
    record_.grader = describe_grader(worker.lab_, worker.setup_);
  }

  Record& record() { return record_; }
  std::function<void(const Record&)> on_verdicts;
  std::function<void(const nlohmann::json&)> on_event;  // for events that no record takes

  nlohmann::json order(const record::Start& start) const {
    nlohmann::json order = {{"hand_in", start.student},
                            {"seed", start.seed},
                            {"isolation", sandbox::to_string(worker_.setup_.isolation)},
                            {"limits", limits_of(worker_.lab_.limits)},
                            {"checks", nlohmann::json::array()}};
    for (const auto& task : worker_.lab_.tasks) {
      if (start.only_task && *start.only_task != task.id) continue;
      for (const auto& check : task.checks) {
        order["checks"].push_back({{"name", check.name}, {"task", task.id}});
      }
    }
    return order;
  }

  void add_runner(nlohmann::json& order, const fs::path& library_dir) const {
    const auto& toolchain = worker_.setup_.toolchain;
    order["runner"] = worker_.setup_.build + "/bin/runner_" + worker_.lab_.slug;
    order["torch"] = toolchain.torch;
    order["cuda_libs"] = toolchain.cuda_libs;
    order["library_dir"] = library_dir.string();
  }

  // Compiles and has the judge look at the result. `order` already names the checks.
  void compile_and_judge(const intake::HandIn& hand_in, nlohmann::json order, bool overlap) {
    const WorkFolder work;
    add_runner(order, work.out());
    record_.notes = hand_in.notes;
    for (const auto& file : hand_in.files) record_.files.push_back({file.name, file.sha256});
    if (hand_in.refused) {
      record::refuse(record_, hand_in.refused->verdict, hand_in.refused->message);
      return;
    }
    if (overlap) {
      order["library"] = nullptr;
      if (!worker_.judge_.send(order)) return judge_is_gone();
    }
    const auto compiled = worker_.compiler_.compile(
        worker_.lab_, hand_in.files.front().path.string(), work.out().string());
    record_.timing.compile_s = compiled.seconds;
    if (!compiled.note.empty() && compiled.outcome == compile::Compiled::kOk) {
      record_.notes.push_back(compiled.note);
    }
    const auto judging = Clock::now();
    if (compiled.outcome != compile::Compiled::kOk) {
      refuse_for(record_, compiled);
      if (overlap) {
        worker_.judge_.send({{"cancel", true}});
        listen();
      }
      return;
    }
    const std::string library = fs::path(compiled.library).filename().string();
    if (overlap) {
      if (!worker_.judge_.send({{"library", library}})) return judge_is_gone();
    } else {
      order["library"] = library;
      if (!worker_.judge_.send(order)) return judge_is_gone();
    }
    listen();
    record_.timing.run_s = since(judging);
  }

  void judge(const nlohmann::json& order) {
    if (!worker_.judge_.send(order)) return judge_is_gone();
    listen();
    record_.timing.run_s = since(started_);
  }

  Record finish() {
    record::settle(record_);
    record_.timing.total_s = since(started_);
    return std::move(record_);
  }

 private:
  void listen() {
    for (;;) {
      const auto event = worker_.judge_.next(kJudgeSilence);
      if (!event) return judge_is_gone();
      const auto kind = event->value("event", "");
      if (kind == "done") return;
      try {
        if (take(kind, *event)) return;
      } catch (const RecordError& error) {
        record_.message = error.what();
      }
    }
  }

  // True when it was the last.
  bool take(const std::string& kind, const nlohmann::json& event) {
    if (kind == "grader_error") {
      record::refuse(record_, Verdict::kGraderError, event.value("message", "the judge failed"));
    } else if (kind == "load_failed") {
      record::Diagnostic diagnostic;
      diagnostic.file = worker_.lab_.hand_in.front();
      diagnostic.message = "cannot be linked: " + demangle_words(event.value("why", ""));
      diagnostic.hint = "a function is declared and called, but defined nowhere";
      record::refuse(record_, Verdict::kCompileError, "it does not link", {diagnostic});
    } else if (kind == "replay" || kind == "seed" || on_event) {
      if (on_event) on_event(event);
    } else {
      // The record shows what was printed in the first failing case; all of it only where none failed.
      if (kind == "end" && !record_.student_output.empty()) return false;
      record::apply(record_, event);
      if (kind == "verdicts_done" && on_verdicts) {
        record::settle(record_);
        record_.timing.total_s = since(started_);
        on_verdicts(record_);
      }
      return kind == "died";
    }
    return false;
  }

  void judge_is_gone() {
    const std::string said = worker_.judge_.complaint();
    worker_.judge_.stop();
    record::refuse(record_, Verdict::kGraderError,
                   fmt::format("the judge ended while it graded this hand-in{}{}",
                               said.empty() ? "" : ": ", said.substr(0, 500)));
  }

  Worker& worker_;
  Record record_;
  Clock::time_point started_;
};

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

Record Worker::grade_built_in(const std::string& subject, const record::Start& start) {
  Run run(*this, start);
  auto order = run.order(start);
  order["subject"] = subject;
  order["diagnose"] = false;
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
  const record::Start start{hand_in.student, "replay", sandbox::to_string(setup_.isolation), false,
                            1, std::nullopt};
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

}  // namespace gradlab::pipeline
