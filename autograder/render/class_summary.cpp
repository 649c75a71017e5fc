#include "render/class_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "render/words.hpp"

namespace gradlab::render {
namespace {

std::optional<double> median_of(std::vector<int> scores) {
  if (scores.empty()) return std::nullopt;
  std::sort(scores.begin(), scores.end());
  const std::size_t half = scores.size() / 2;
  return scores.size() % 2 ? scores[half] : (scores[half - 1] + scores[half]) / 2.0;
}

void count_checks(const std::vector<Record>& records, ClassSummary& summary) {
  std::vector<std::string> order;
  std::map<std::string, FailedCheck> checks;
  for (const Record& record : records) {
    for (const record::Task& task : record.tasks) {
      for (const record::Check& check : task.checks) {
        if (!checks.contains(check.name)) order.push_back(check.name);
        FailedCheck& counted = checks[check.name];
        counted.title = check.title;
        counted.task = task.id;
        counted.failed += is_failed(check.verdict) && check.verdict != Verdict::kGraderError;
        counted.not_started += check.verdict == Verdict::kNotStarted;
      }
    }
  }
  for (const std::string& name : order) {
    if (checks[name].failed > 0) summary.failed.push_back(checks[name]);
  }
  std::sort(summary.failed.begin(), summary.failed.end(), [](const auto& a, const auto& b) {
    return std::tie(b.failed, a.task, a.title) < std::tie(a.failed, b.task, b.title);
  });
}

void count_misconceptions(const std::vector<Record>& records, ClassSummary& summary) {
  auto& met = summary.misconceptions;
  for (const Record& record : records) {
    for (const record::Task& task : record.tasks) {
      for (const record::Check& check : task.checks) {
        if (!check.behaves_like) continue;
        const record::BehavesLike& bug = *check.behaves_like;
        auto found =
            std::find_if(met.begin(), met.end(), [&](const auto& m) { return m.bug == bug.bug; });
        if (found == met.end()) {
          met.push_back({bug.bug, short_name(bug), bug.belief, bug.hint, {}});
          found = met.end() - 1;
        }
        auto& students = found->students;
        if (students.empty() || students.back() != record.student) {
          students.push_back(record.student);
        }
      }
    }
  }
  std::sort(met.begin(), met.end(), [](const auto& a, const auto& b) {
    return std::pair(b.students.size(), a.bug) < std::pair(a.students.size(), b.bug);
  });
}

void collect_doubtful(const std::vector<Record>& records, ClassSummary& summary) {
  auto& doubts = summary.to_look_at;
  const auto add = [&](const std::string& what, const std::string& student) {
    const auto found =
        std::find_if(doubts.begin(), doubts.end(), [&](const auto& d) { return d.what == what; });
    if (found == doubts.end()) {
      doubts.push_back({what, {student}});
    } else {
      found->students.push_back(student);
    }
  };
  for (const Record& record : records) {
    if (!record.score) add(what_failed_first(record), record.student);
  }
  for (const Record& record : records) {
    for (const record::Task& task : record.tasks) {
      for (const record::Check& check : task.checks) {
        if (!is_near_tolerance(check)) continue;
        add(fmt::format("{}.{} {}: {}, within 10x of its tolerance", record.lab, task.id,
                        check.title, in_words(check.verdict)),
            record.student);
      }
    }
  }
}

std::string plural_phrase(Verdict verdict, int count) {
  const bool one = count == 1;
  switch (verdict) {
    case Verdict::kNotStarted:
      return "not started";
    case Verdict::kTimeLimit:
      return one ? "hangs" : "hang";
    case Verdict::kMemoryLimit:
      return one ? "runs out of memory" : "run out of memory";
    case Verdict::kOutputLimit:
      return one ? "floods the output" : "flood the output";
    case Verdict::kForged:
      return one ? "forges an answer" : "forge an answer";
    case Verdict::kCrashed:
      return one ? "crashes" : "crash";
    case Verdict::kCompileError:
      return one ? "does not compile" : "do not compile";
    case Verdict::kForbidden:
      return one ? "uses what is forbidden" : "use what is forbidden";
    default:
      return one ? "grader error" : "grader errors";
  }
}

}  // namespace

int ClassSummary::count(Verdict verdict) const {
  const auto found = verdicts.find(verdict);
  return found == verdicts.end() ? 0 : found->second;
}

ClassSummary summarise(const std::vector<Record>& records) {
  ClassSummary summary;
  std::vector<int> scores;
  for (const Record& record : records) {
    ++summary.graded;
    ++summary.verdicts[record.verdict];
    summary.max_score = std::max(summary.max_score, record.max_score);
    if (!record.score) continue;
    scores.push_back(*record.score);
    summary.full_marks += *record.score == record.max_score && record.verdict == Verdict::kPass;
  }
  summary.scores.resize(static_cast<std::size_t>(summary.max_score) + 1);
  for (const int score : scores) ++summary.scores[static_cast<std::size_t>(score)];
  summary.median = median_of(scores);
  if (!scores.empty()) {
    summary.mean = std::accumulate(scores.begin(), scores.end(), 0.0) / double(scores.size());
  }
  count_checks(records, summary);
  count_misconceptions(records, summary);
  collect_doubtful(records, summary);
  return summary;
}

std::string number_text(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string summary_line(const ClassSummary& summary) {
  std::string line = fmt::format("{} full marks", summary.full_marks);
  if (summary.median) line += ", median " + number_text(*summary.median);
  for (const Verdict verdict :
       {Verdict::kNotStarted, Verdict::kCompileError, Verdict::kForbidden, Verdict::kTimeLimit,
        Verdict::kMemoryLimit, Verdict::kOutputLimit, Verdict::kForged, Verdict::kCrashed}) {
    const int count = summary.count(verdict);
    if (count > 0) line += fmt::format(", {} {}", count, plural_phrase(verdict, count));
  }
  const int faults = summary.count(Verdict::kGraderError);
  return line + fmt::format(", {} {}", faults, plural_phrase(Verdict::kGraderError, faults));
}

}  // namespace gradlab::render
