#include "render/failure_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "render/trace.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

constexpr int kIndent = Sheet::kTextAt;
constexpr int kGap = 4;  // between two hints in one line

std::string place_and_values(const record::Failing& failing) {
  std::string values = expected_and_got(failing);
  if (failing.place.empty()) return values;
  return fmt::format("at {}{}{}", failing.place, values.empty() ? "" : ": ", values);
}

}  // namespace

void FailureText::task(const record::Task& task) {
  if (task.verdict == Verdict::kPass || task.verdict == Verdict::kNotStarted) return;
  if (task.verdict == Verdict::kGraderError) return fault(task);
  if (all_alike(task)) return;
  first_ = true;
  said_.clear();
  for (const record::Check& check : task.checks) {
    check_row(check);
    if (check.verdict != Verdict::kPass && check.verdict != Verdict::kNotStarted) {
      below(task, check);
    }
  }
}

bool FailureText::all_alike(const record::Task& task) {
  const std::string message = said_of_all(task);
  if (message.empty()) return false;
  if (for_all_.insert(message).second) {
    sheet_.wrap(Sheet::kLabelAt, printable(message));
    read_on(task, task.checks.front(), Sheet::kLabelAt);
  }
  return true;
}

// What the grader failed at is no list of failures to work through: each reason once.
void FailureText::fault(const record::Task& task) {
  std::set<std::string> reasons;
  for (const record::Check& check : task.checks) {
    if (check.verdict == Verdict::kGraderError && reasons.insert(check.message).second) {
      sheet_.wrap(Sheet::kLabelAt, printable(check.message));
    }
  }
}

void FailureText::check_row(const record::Check& check) {
  const Paint& paint = sheet_.paint();
  Sheet::Row row;
  row.label = "FAIL";
  row.painted_label = paint.bad(row.label);
  row.points = sheet_.points(check.points, check.max_points);
  if (check.verdict == Verdict::kPass) {
    row.painted_label = paint.good(row.label = "ok");
    row.points = sheet_.earned(check.points);
  } else if (check.verdict == Verdict::kBlocked) {
    row.painted_label = paint.dim(row.label = "wait");
  } else if (check.verdict == Verdict::kNotStarted) {
    row.painted_label = paint.dim(row.label = "-");
    row.word = check.verdict;
  } else if (check.verdict != Verdict::kFail) {
    row.word = check.verdict;
  }
  row.left = std::string(Sheet::kTextAt, ' ') + printable(check.title);
  sheet_.row(row);
}

void FailureText::below(const record::Task& task, const record::Check& check) {
  if (check.verdict == Verdict::kBlocked) {
    const std::string why = check.guard && guards_ ? check.message : explained(record_, check);
    guards_ = guards_ || check.guard;
    sheet_.wrap(kIndent, said_.insert(why).second ? printable(why) : "for the same reason");
    return;
  }
  first_ ? in_full(task, check) : in_brief(check);
  first_ = false;
}

// The order is the same everywhere: case, place and values, how far, misconception, again, read.
void FailureText::in_full(const record::Task& task, const record::Check& check) {
  const bool told_by_case = check.verdict == Verdict::kFail && check.failing;
  if (!told_by_case && !check.message.empty() && said_.insert(check.message).second) {
    sheet_.wrap(kIndent, printable(check.message));
  }
  if (check.failing) {
    const record::Failing& failing = *check.failing;
    for (const std::string& text :
         {case_text(failing), place_and_values(failing), how_far(failing)}) {
      if (!text.empty()) sheet_.wrap(kIndent, printable(text));
    }
    calls(failing);
  }
  behaviour(check);
  read_on(task, check, kIndent);
}

void FailureText::calls(const record::Failing& failing) {
  const Trace trace = trace_of(failing);
  if (trace.rows.empty()) return;
  constexpr int kMark = 2;
  const int column = (sheet_.width() - kIndent) / 2;
  const auto line = [&](const char* mark, const std::string& got, const std::string& expected) {
    const auto cell = [&](const std::string& call) { return cut(printable(call), column - kGap); };
    sheet_.line(std::string(kIndent, ' ') + padded(mark + cell(got), column + kMark) +
                cell(expected));
  };
  line("  ", "called", "the answer calls");
  if (trace.cut_before) line("  ", "...", "...");
  for (const TraceRow& row : trace.rows) line(row.same() ? "  " : "> ", row.got, row.expected);
  if (trace.cut_after) line("  ", "...", "...");
}

void FailureText::in_brief(const record::Check& check) {
  const bool told_by_case = check.verdict == Verdict::kFail && check.failing;
  const std::string text = told_by_case ? place_and_values(*check.failing) : check.message;
  // A case of its own may differ in the same way; a hang or a crash is told once.
  if (!text.empty() && (told_by_case || said_.insert(text).second)) {
    sheet_.wrap(kIndent, printable(text));
  }
  if (check.behaves_like && !behaves_.contains(check.behaves_like->bug)) behaviour(check);
}

void FailureText::behaviour(const record::Check& check) {
  if (!check.behaves_like) return;
  const record::BehavesLike& bug = *check.behaves_like;
  const bool asked = !behaves_.insert(bug.bug).second;
  sheet_.wrap(kIndent, "behaves like: " +
                           printable(asked ? short_name(bug) + ", as above" : behaves_like(bug)));
  if (!asked && !bug.also.empty()) {
    sheet_.wrap(kIndent, "the same is seen with: " + printable(names_of_also(bug)));
  }
}

void FailureText::read_on(const record::Task& task, const record::Check& check, int indent) {
  const std::string read = fmt::format("read: {}", read_at(record_, task.id));
  const std::string again = check.reproduce.empty() ? "" : "again: " + printable(check.reproduce);
  const bool fits = indent + width_of(again) + kGap + width_of(read) <= sheet_.width();
  if (!again.empty() && fits) {
    sheet_.wrap(indent, again + std::string(kGap, ' ') + read);
    return;
  }
  if (!again.empty()) sheet_.wrap(indent, again, 7);
  sheet_.wrap(indent, read);
}

void FailureText::diagnoses() {
  using Shown = std::pair<const record::BehavesLike*, std::vector<std::string>>;
  std::vector<Shown> all;
  for (const record::Task& task : record_.tasks) {
    for (const record::Check& check : task.checks) {
      if (!check.behaves_like) continue;
      auto found = std::find_if(all.begin(), all.end(), [&](const Shown& shown) {
        return shown.first->bug == check.behaves_like->bug;
      });
      if (found == all.end()) found = all.insert(found, Shown{&*check.behaves_like, {}});
      found->second.push_back(
          fmt::format("{}.{} {}", record_.lab, task.id, printable(check.title)));
    }
  }
  for (const auto& [bug, checks] : all) {
    const std::size_t more = checks.size() - 1;
    sheet_.wrap(0, checks.front() + (more == 0   ? ""
                                     : more == 1 ? ", and one more check"
                                                 : fmt::format(", and {} more checks", more)));
    sheet_.wrap(2, "behaves like: " + printable(behaves_like(*bug)));
  }
}

}  // namespace gradlab::render
