#include "record/record.hpp"

#include <fmt/format.h>

#include "record/errors.hpp"

namespace gradlab::record {
namespace {

// A guard passes for an answer that does nothing, so it counts only beside the check that such an
// answer fails.
void settle_guard(const Record& record, Check& check) {
  if (!check.guard || check.verdict != Verdict::kPass) return;
  const Check* needed = record.check(check.needs);
  // Absent when one task is checked alone: then nothing shows that the guard is earned.
  if (needed != nullptr && needed->verdict == Verdict::kPass) return;
  check.verdict = Verdict::kBlocked;
  check.message = errors::waits_for(needed == nullptr ? check.needs : needed->title);
}

bool is_failure(Verdict verdict) {
  return verdict != Verdict::kPass && verdict != Verdict::kNotStarted &&
         verdict != Verdict::kBlocked && verdict != Verdict::kGraderError;
}

// For a command line that is copied into a shell.
std::string shell_word(const std::string& text) {
  constexpr char kPlain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

// `debug` shows a task's first failing check by itself; the others have to be named.
void fill_reproduce(const Record& record, Task& task) {
  bool first = true;
  for (Check& check : task.checks) {
    if (!is_failure(check.verdict)) {
      check.reproduce.clear();
      continue;
    }
    check.reproduce = fmt::format("./gradlab debug {}.{}", record.lab, task.id);
    if (!first) check.reproduce += " --check " + check.name;
    if (!record.file.empty()) check.reproduce += " --file " + shell_word(record.file);
    if (!record.public_seed) check.reproduce += " --seed " + record.seed;
    first = false;
  }
}

void settle_task(Record& record, Task& task) {
  std::vector<Verdict> verdicts;
  task.points = 0;
  for (Check& check : task.checks) {
    check.points = check.verdict == Verdict::kPass ? check.max_points : 0;
    task.points += check.points;
    verdicts.push_back(check.verdict);
  }
  task.verdict = combine(verdicts);
  fill_reproduce(record, task);
}

Check expected_check(const manifest::Check& source) {
  Check check;
  check.name = source.name;
  check.title = source.title;
  check.guard = source.guard;
  check.needs = source.needs;
  check.max_points = source.points;
  check.message = errors::kNoVerdict;
  return check;
}

}  // namespace

const Check* Record::check(std::string_view name) const {
  for (const Task& task : tasks) {
    for (const Check& check : task.checks) {
      if (check.name == name) return &check;
    }
  }
  return nullptr;
}

Check* Record::check(std::string_view name) {
  return const_cast<Check*>(std::as_const(*this).check(name));
}

Record new_record(const Manifest& manifest, const Start& start) {
  Record record;
  record.lab = manifest.slug;
  record.title = manifest.title;
  record.student = start.student;
  record.attempt = start.attempt;
  record.seed = start.seed;
  record.isolation = start.isolation;
  record.public_seed = start.public_seed;
  record.file = start.file;
  for (const manifest::Task& source : manifest.tasks) {
    if (start.only_task && *start.only_task != source.id) continue;
    Task& task = record.tasks.emplace_back();
    task.id = source.id;
    task.title = source.title;
    task.core = source.core;
    task.max_points = source.max_points();
    record.max_score += task.max_points;
    for (const manifest::Check& check : source.checks) {
      task.checks.push_back(expected_check(check));
    }
  }
  return record;
}

void refuse(Record& record, Verdict verdict, const std::string& message,
            std::vector<Diagnostic> diagnostics) {
  record.refusal = verdict;
  record.message = message;
  record.diagnostics = std::move(diagnostics);
  const bool same = verdict == Verdict::kNotStarted || verdict == Verdict::kGraderError;
  for (Task& task : record.tasks) {
    for (Check& check : task.checks) {
      check.came = same ? verdict : Verdict::kBlocked;
      check.message = same ? message : errors::not_judged(verdict);
      check.failing.reset();
      check.behaves_like.reset();
    }
  }
}

void settle(Record& record) {
  std::vector<Verdict> verdicts;
  if (record.refusal) verdicts.push_back(*record.refusal);
  int points = 0;
  for (Task& task : record.tasks) {
    for (Check& check : task.checks) check.verdict = check.came.value_or(check.verdict);
  }
  for (Task& task : record.tasks) {
    for (Check& check : task.checks) settle_guard(record, check);
    settle_task(record, task);
    points += task.points;
    verdicts.push_back(task.verdict);
  }
  record.verdict = combine(verdicts);
  if (record.verdict == Verdict::kGraderError) {
    record.score.reset();
  } else {
    record.score = points;
  }
}

}  // namespace gradlab::record
