#include "render/grade_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "render/class_summary.hpp"
#include "render/terminal.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

constexpr int kLeastBar = 10;
constexpr int kMostBar = 34;
constexpr int kMostStudent = 16;
constexpr std::size_t kMostCommon = 3;
constexpr std::size_t kMostDoubts = 20;
constexpr std::size_t kMostNames = 5;

std::string duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 100) return fmt::format("{} s", whole);
  return fmt::format("{} min", (whole + 59) / 60);
}

// The tasks of the class, from the record that has most: one that never ran has them too.
const Record* widest(const std::vector<Record>& records) {
  const auto found = std::max_element(
      records.begin(), records.end(),
      [](const Record& a, const Record& b) { return a.tasks.size() < b.tasks.size(); });
  return found == records.end() ? nullptr : &*found;
}

std::string points_of(const Record& record, int id) {
  for (const record::Task& task : record.tasks) {
    if (task.id != id) continue;
    const bool nothing = task.verdict == Verdict::kNotStarted || record.refusal ||
                         task.verdict == Verdict::kGraderError;
    return nothing ? "-" : fmt::format("{}", task.points);
  }
  return "";
}

std::string painted_score(const Record& record, const Paint& paint) {
  const std::string text = fmt::format("{:>9}", score_text(record));
  if (record.verdict == Verdict::kPass) return paint.good(text);
  return record.verdict == Verdict::kNotStarted ? paint.dim(text) : text;
}

void add_wrapped(std::string& out, const std::string& text, int width, int hanging) {
  bool first = true;
  for (const std::string& piece : wrapped(text, width - hanging)) {
    out += std::string(static_cast<std::size_t>(first ? 0 : hanging), ' ') + piece + "\n";
    first = false;
  }
}

// Of "small norm is left alone (scales always)" the misconception says more than the end of the
// title.
std::string fitted(const std::string& phrase, int width) {
  const std::size_t open = phrase.find(" (");
  if (width_of(phrase) <= width || open == std::string::npos) return cut_at_word(phrase, width);
  const std::string behind = phrase.substr(open);
  const int left = width - width_of(behind);
  return left < width * 2 / 5 ? cut_at_word(phrase, width)
                              : cut_at_word(phrase.substr(0, open), left) + behind;
}

// "bruno, ada and 3 more, clipping.1 half and bfloat16: pass, within 10x of its tolerance"
std::string in_doubt(const ToLookAt& doubt) {
  std::string names;
  const std::size_t count = doubt.students.size();
  const std::size_t named = count > kMostNames ? kMostNames - 1 : count;
  for (std::size_t i = 0; i < named; ++i) {
    names += (i == 0 ? "" : i + 1 == count ? " and " : ", ") + printable(doubt.students[i]);
  }
  if (named < count) names += fmt::format(" and {} more", count - named);
  return fmt::format("{}, {}", names, printable(doubt.what));
}

// "17 graded  2 time limit": what went its usual way together, the rest by name.
std::string running_counts(const Progress& progress) {
  int usual = 0;
  std::string special;
  for (const auto& [verdict, count] : progress.counts) {
    if (verdict == Verdict::kPass || verdict == Verdict::kFail || verdict == Verdict::kNotStarted ||
        verdict == Verdict::kBlocked) {
      usual += count;
    } else if (count > 0) {
      special += fmt::format("  {} {}", count, in_words(verdict));
    }
  }
  return fmt::format("{} graded{}", usual, special);
}

}  // namespace

std::string render_progress(const Progress& progress, bool bar, int width) {
  const int reached = progress.done + progress.earlier;
  std::string line = fmt::format("{} of {}", reached, progress.total);
  // A clock that jumped back, or nothing done yet, gives no rate rather than a wrong one.
  if (progress.done > 0 && progress.seconds > 0) {
    const double each = progress.seconds / progress.done;
    line += fmt::format("   {:.0f} a minute", 60 / each);
    if (reached < progress.total) {
      line += fmt::format("   {} left", duration(each * (progress.total - reached)));
    }
  }
  line += "   " + running_counts(progress);
  if (!bar) return line;
  const int room = std::min(width - width_of(line) - 4, kMostBar);
  if (room < kLeastBar) return cut(line, width);
  const int filled = progress.total > 0 ? room * reached / progress.total : 0;
  return fmt::format("[{}{}]  {}", std::string(static_cast<std::size_t>(filled), '#'),
                     std::string(static_cast<std::size_t>(room - filled), '.'), line);
}

std::string render_grade_table(const std::vector<Record>& records, const GradeOptions& options) {
  const Record* shape = widest(records);
  if (shape == nullptr) return "";
  const Paint paint(options.colour);
  int student = 7;
  for (const Record& record : records) {
    student = std::max(student, width_of(printable(record.student)));
  }
  student = std::min(student, kMostStudent);
  std::string out = fmt::format("  {}  {:>9}", padded("student", student), "score");
  for (const record::Task& task : shape->tasks) out += fmt::format("  {:>2}", task.id);
  const int left = width_of(out) + 3;
  out += "   what failed first\n";
  for (const Record& record : records) {
    out += fmt::format("  {}  {}", padded(cut(printable(record.student), student), student),
                       painted_score(record, paint));
    for (const record::Task& task : shape->tasks) {
      out += fmt::format("  {:>2}", points_of(record, task.id));
    }
    const std::string failed = printable(what_failed_first(record));
    if (!failed.empty()) out += "   " + fitted(failed, std::max(options.width - left, 20));
    out += "\n";
  }
  return out;
}

std::string render_grade_summary(const std::vector<Record>& records, double seconds,
                                 const GradeOptions& options) {
  const ClassSummary summary = summarise(records);
  std::string out;
  add_wrapped(
      out,
      fmt::format("{} graded in {}: {}", summary.graded, duration(seconds), summary_line(summary)),
      options.width, 2);
  std::string common;
  for (std::size_t i = 0; i < std::min(summary.misconceptions.size(), kMostCommon); ++i) {
    const Misconception& met = summary.misconceptions[i];
    common += fmt::format("{}{} ({})", i ? ", " : "", printable(met.name), met.students.size());
  }
  if (!common.empty()) add_wrapped(out, "Most common: " + common, options.width, 2);
  const auto& doubts = summary.to_look_at;
  if (doubts.size() == 1) {
    add_wrapped(out, "Look before publishing: " + in_doubt(doubts.front()), options.width, 2);
  } else if (!doubts.empty()) {
    out += "Look before publishing:\n";
    for (std::size_t i = 0; i < std::min(doubts.size(), kMostDoubts); ++i) {
      add_wrapped(out, "  " + in_doubt(doubts[i]), options.width, 4);
    }
    if (doubts.size() > kMostDoubts) {
      out += fmt::format("  and {} more, all in the report\n", doubts.size() - kMostDoubts);
    }
  }
  return out;
}

}  // namespace gradlab::render
