#include "pipeline/run.hpp"

#include <fmt/format.h>

#include "pipeline/load_failure.hpp"
#include "pipeline/work_folder.hpp"

namespace gradlab::pipeline {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
using record::Verdict;

// The judge keeps the hand-in's own times, all of which one check may use up; when it is silent for
// longer, the judge itself counts as hung.
double longest_silence(const manifest::Limits& limits) {
  constexpr double kWallPerCpu = 5;
  constexpr double kOwnWork = 120;
  return kWallPerCpu * limits.hand_in_seconds + kOwnWork;
}

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
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
      return record::refuse(
          record, Verdict::kForbidden,
          compiled.note.empty() ? "it uses what this lab asks you to write" : compiled.note,
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

Worker::Run::Run(Worker& worker, const record::Start& start)
    : worker_(worker), record_(record::new_record(worker.lab_, start)), started_(Clock::now()) {
  record_.grader = describe_grader(worker.lab_, worker.setup_);
}

nlohmann::json Worker::Run::order(const record::Start& start) const {
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

void Worker::Run::add_runner(nlohmann::json& order, const fs::path& library_dir) const {
  const auto& toolchain = worker_.setup_.toolchain;
  order["runner"] = worker_.setup_.build + "/bin/runner_" + worker_.lab_.slug;
  order["torch"] = toolchain.torch;
  order["cuda_libs"] = toolchain.cuda_libs;
  // The shared objects of ours that this lab's hand-ins may use; made with its runner.
  if (!worker_.lab_.libraries.empty()) order["libraries"] = worker_.setup_.build + "/libraries";
  order["functions"] = worker_.compiler_.functions(worker_.lab_);
  order["library_dir"] = library_dir.string();
}

void Worker::Run::compile_and_judge(const intake::HandIn& hand_in, nlohmann::json order,
                                    bool overlap) {
  const bool other_uids = worker_.setup_.isolation == sandbox::Isolation::kContainer;
  const WorkFolder work(other_uids ? WorkFolder::For::kOtherUids : WorkFolder::For::kUs);
  add_runner(order, work.out());
  record_.notes = hand_in.notes;
  for (const auto& file : hand_in.files) record_.files.push_back({file.name, file.sha256});
  if (hand_in.refused) {
    return record::refuse(record_, hand_in.refused->verdict, hand_in.refused->message);
  }
  if (overlap) {
    order["library"] = nullptr;  // its name follows
    if (!worker_.judge_.send(order)) return judge_is_gone();
  }
  const auto compiled = worker_.compiler_.compile(worker_.lab_, hand_in.files.front().path.string(),
                                                  work.out().string());
  record_.timing.compile_s = compiled.seconds;
  if (compiled.outcome != compile::Compiled::kOk) {
    refuse_for(record_, compiled);
    if (!overlap) return;
    worker_.judge_.send({{"cancel", true}});
    return listen();
  }
  if (!compiled.note.empty()) record_.notes.push_back(compiled.note);
  const auto judging = Clock::now();
  hand_over(order, fs::path(compiled.library).filename().string(), overlap);
  record_.timing.run_s = since(judging);
}

void Worker::Run::hand_over(nlohmann::json& order, const std::string& library, bool overlap) {
  if (!overlap) order["library"] = library;
  const bool sent = worker_.judge_.send(overlap ? nlohmann::json{{"library", library}} : order);
  return sent ? listen() : judge_is_gone();
}

void Worker::Run::judge(const nlohmann::json& order) {
  if (!worker_.judge_.send(order)) return judge_is_gone();
  listen();
  record_.timing.run_s = since(started_);
}

Record Worker::Run::finish() {
  record::settle(record_);
  // Whatever it is that ails this judge: the next hand-in gets a new one.
  if (record_.verdict == Verdict::kGraderError) worker_.judge_.stop();
  record_.timing.total_s = since(started_);
  return std::move(record_);
}

void Worker::Run::listen() {
  for (;;) {
    const auto event = worker_.judge_.next(longest_silence(worker_.lab_.limits));
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

bool Worker::Run::take(const std::string& kind, const nlohmann::json& event) {
  if (kind == "grader_error") {
    record::refuse(record_, Verdict::kGraderError, event.value("message", "the judge failed"));
  } else if (kind == "load_failed") {
    refuse_for_load_failure(record_, event.value("why", ""), worker_.lab_);
  } else if (kind == "replay" || kind == "seed" || on_event) {
    if (on_event) on_event(event);
  } else if (kind == "end" && !record_.student_output.empty()) {
    // The record shows what was printed in the first failing case; all of it only where none
    // failed.
  } else {
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

void Worker::Run::judge_is_gone() {
  const std::string said = worker_.judge_.complaint();
  worker_.judge_.stop();
  record::refuse(record_, Verdict::kGraderError,
                 fmt::format("the judge ended while it graded this hand-in{}{}",
                             said.empty() ? "" : ": ", said.substr(0, 500)));
}

}  // namespace gradlab::pipeline
