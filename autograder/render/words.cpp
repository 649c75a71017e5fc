#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradlab::render {
namespace {

std::string difference(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value == 0 ? "0" : fmt::format("{:.1e}", value);
}

std::string with_blanks(std::string_view name) {
  std::string words(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

// A check that did not pass, in a table: a limit, a crash and the grader's own fault speak for
// their task, a difference for the check.
std::string briefly(const Record& record, const First& first) {
  const record::Check& check = *first.check;
  if (check.verdict == Verdict::kFail) {
    if (!check.behaves_like) return check.title;
    return fmt::format("{} ({})", check.title, short_name(*check.behaves_like));
  }
  std::string why = check.message;
  constexpr std::string_view kWhere = " in one case";
  if (why.ends_with(kWhere)) why.erase(why.size() - kWhere.size());
  if (check.verdict == Verdict::kGraderError) {
    return of_hand_in(check.verdict) + (why.empty() ? "" : ": " + why);
  }
  return fmt::format("{}.{} {}{}", record.lab, first.task->id, of_hand_in(check.verdict),
                     why.empty() ? "" : " (" + why + ")");
}

}  // namespace

std::string in_words(Verdict verdict) { return with_blanks(record::to_string(verdict)); }

std::string of_hand_in(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "passes";
    case Verdict::kFail:
      return "fails";
    case Verdict::kNotStarted:
      return "not started";
    case Verdict::kBlocked:
      return "waits for another task";
    case Verdict::kCrashed:
      return "crashes";
    case Verdict::kTimeLimit:
      return "hangs";
    case Verdict::kMemoryLimit:
      return "runs out of memory";
    case Verdict::kOutputLimit:
      return "floods the output";
    case Verdict::kForged:
      return "forges an answer";
    case Verdict::kCompileError:
      return "does not compile";
    case Verdict::kForbidden:
      return "uses what this lab forbids";
    case Verdict::kGraderError:
      break;
  }
  return "no score: grader error";
}

std::string score_text(const Record& record) {
  return record.score ? fmt::format("{} / {}", *record.score, record.max_score)
                      : fmt::format("- / {}", record.max_score);
}

std::string explained(const Record& record, const record::Check& check) {
  if (check.verdict != Verdict::kBlocked || !check.guard) return check.message;
  const record::Check* needed = record.check(check.needs);
  if (needed == nullptr || check.message.starts_with("not run")) return check.message;
  return fmt::format("passes, but so does an answer that does nothing: it counts once '{}' passes",
                     needed->title);
}

std::string said_of_all(const record::Task& task) {
  if (task.checks.size() < 2) return "";
  const record::Check& first = task.checks.front();
  const bool same = std::all_of(task.checks.begin(), task.checks.end(), [&](const auto& check) {
    return check.verdict == first.verdict && check.message == first.message && !check.failing;
  });
  return same && first.verdict != Verdict::kFail ? first.message : "";
}

std::string expected_and_got(const record::Failing& failing) {
  if (failing.expected.empty()) return failing.got;
  if (failing.got.empty()) return "expected " + failing.expected;
  return fmt::format("expected {}, got {}", failing.expected, failing.got);
}

std::string how_far(const record::Failing& failing) {
  std::string text;
  if (failing.off_by) text = "off by " + difference(*failing.off_by);
  if (failing.off_by && failing.allowed) text += ", allowed " + difference(*failing.allowed);
  if (failing.differing && failing.differing->of > 1) {
    text += fmt::format("{}{} of {} differ", text.empty() ? "" : "; ", failing.differing->count,
                        failing.differing->of);
  }
  return text;
}

std::string case_text(const record::Failing& failing) {
  if (!failing.input.is_object()) return "";
  const auto text = failing.input.find("text");
  return text != failing.input.end() && text->is_string() ? text->get<std::string>() : "";
}

std::string short_name(const record::BehavesLike& bug) { return with_blanks(bug.bug); }

std::string names_of_also(const record::BehavesLike& bug) {
  std::string names;
  for (const auto& also : bug.also) names += (names.empty() ? "" : ", ") + with_blanks(also);
  return names;
}

std::string behaves_like(const record::BehavesLike& bug) {
  return fmt::format("{} ({}).{}{}", short_name(bug), bug.belief, bug.hint.empty() ? "" : " ",
                     bug.hint);
}

std::string read_at(const Record& record, int task) {
  return fmt::format("handouts/{}.md, task {}", record.lab, task);
}

bool is_failed(Verdict verdict) {
  return verdict != Verdict::kPass && verdict != Verdict::kNotStarted &&
         verdict != Verdict::kBlocked;
}

std::optional<First> first_failed(const Record& record) {
  for (const record::Task& task : record.tasks) {
    for (const record::Check& check : task.checks) {
      if (is_failed(check.verdict)) return First{&task, &check};
    }
  }
  return std::nullopt;
}

std::string what_failed_first(const Record& record) {
  switch (record.verdict) {
    case Verdict::kPass:
      return "";
    case Verdict::kNotStarted:
      return record.message.empty() ? "not started" : record.message;
    case Verdict::kForbidden:
      if (!record.message.empty()) return record.message;
      [[fallthrough]];
    case Verdict::kCompileError:
      if (!record.diagnostics.empty()) {
        const record::Diagnostic& first = record.diagnostics.front();
        return fmt::format("{}: {}:{}", of_hand_in(record.verdict), first.file, first.line);
      }
      return record.message.empty() ? of_hand_in(record.verdict) : record.message;
    default:
      break;
  }
  if (record.verdict == Verdict::kGraderError && !record.message.empty()) {
    return fmt::format("{}: {}", of_hand_in(record.verdict), record.message);
  }
  if (const auto first = first_failed(record)) return briefly(record, *first);
  if (!record.message.empty()) return record.message;
  for (const record::Task& task : record.tasks) {
    if (task.verdict != Verdict::kPass) {
      return fmt::format("{}.{} {}", record.lab, task.id, in_words(task.verdict));
    }
  }
  return "";
}

bool is_near_tolerance(const record::Check& check) {
  if (check.verdict == Verdict::kPass) {
    return check.closest && *check.closest >= 0.1 && *check.closest <= 10;
  }
  if (check.verdict != Verdict::kFail || !check.failing) return false;
  const auto& [off_by, allowed] = std::pair(check.failing->off_by, check.failing->allowed);
  return off_by && allowed && *allowed > 0 && *off_by <= 10 * *allowed;
}

}  // namespace gradlab::render
