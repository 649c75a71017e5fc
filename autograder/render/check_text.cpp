#include "render/check_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "render/failure_text.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

constexpr int kSlug = 11;  // a lab's slug and blanks, before its title
constexpr int kMostOutputLines = 20;
constexpr int kGap = 4;  // between two hints in one line

class CheckText {
 public:
  CheckText(const Record& record, const CheckOptions& options)
      : record_(record),
        options_(options),
        sheet_(record, options.width, options.colour),
        failures_(record, sheet_) {}

  std::string all() {
    header();
    if (record_.diagnostics.empty() && !record_.message.empty()) {
      sheet_.wrap(2, printable(record_.message));
    }
    for (const record::Diagnostic& diagnostic : record_.diagnostics) compiler_error(diagnostic);
    if (ran()) {
      for (const record::Task& task : record_.tasks) {
        task_row(task);
        failures_.task(task);
      }
      student_output();
    }
    for (const std::string& note : record_.notes) sheet_.wrap(0, "note: " + printable(note), 6);
    if (options_.tips) tip();
    return sheet_.take();
  }

  std::string diagnoses() {
    failures_.diagnoses();
    if (options_.tips) tip();
    return sheet_.take();
  }

 private:
  bool ran() const { return !record_.refusal && record_.diagnostics.empty(); }

  void header() {
    Sheet::Row row;
    const bool titled = !record_.refusal || record_.verdict == Verdict::kNotStarted;
    row.left = padded(record_.lab, std::max(kSlug, width_of(record_.lab) + 2));
    if (titled && record_.score) {
      row.left += record_.title;
      row.points = sheet_.points(*record_.score, record_.max_score);
    } else {
      row.left += of_hand_in(record_.verdict);
    }
    row.time = fmt::format("{:>6.1f} s", record_.timing.total_s);
    sheet_.row(row);
  }

  void task_row(const record::Task& task) {
    Sheet::Row row;
    row.left = fmt::format("  {}.{}  {}", record_.lab, task.id, task.title);
    row.word = task.verdict;
    row.points = sheet_.points(task.points, task.max_points);
    sheet_.row(row);
  }

  std::string file_of(const std::string& name) const {
    const bool same = std::filesystem::path(options_.file).filename() == name;
    return options_.file.empty() || !(same || record_.files.size() <= 1) ? name : options_.file;
  }

  void compiler_error(const record::Diagnostic& diagnostic) {
    std::string place = printable(file_of(diagnostic.file));
    if (diagnostic.line > 0) place += fmt::format(":{}", diagnostic.line);
    if (diagnostic.line > 0 && diagnostic.column > 0)
      place += fmt::format(":{}", diagnostic.column);
    sheet_.wrap(2, fmt::format("{}: error: {}", place, printable(diagnostic.message)), 2);
    // Not wrapped: the marks under the code must stay under it.
    for (const std::string& excerpt : diagnostic.excerpt) {
      sheet_.line("  " + cut(printable(excerpt, Lines::kMany), 2 * sheet_.width()));
    }
    if (!diagnostic.hint.empty() && hints_.insert(diagnostic.hint).second) {
      sheet_.wrap(2, printable(diagnostic.hint));
    }
  }

  void student_output() {
    if (record_.student_output.empty()) return;
    sheet_.line("you printed (in that case):");
    const auto printed =
        wrapped(printable(record_.student_output, Lines::kMany), sheet_.width() - 2);
    const auto shown = std::min<std::size_t>(printed.size(), kMostOutputLines);
    for (std::size_t i = 0; i < shown; ++i) sheet_.line("  " + printed[i]);
    if (shown < printed.size()) {
      sheet_.line(sheet_.paint().dim(fmt::format("  … {} more lines", printed.size() - shown)));
    } else if (record_.output_cut) {
      sheet_.line(sheet_.paint().dim("  … the rest was cut"));
    }
  }

  void tip() {
    if (record_.verdict == Verdict::kGraderError) {
      sheet_.wrap(0,
                  "This is a fault of the grader, not of your file. Run the same command again, "
                  "then ./gradlab doctor " +
                      record_.lab);
      return;
    }
    const int next = next_task(record_);
    if (!ran() || next == 0) return;
    const std::string hint = fmt::format("hint: ./gradlab hint {}.{}", record_.lab, next);
    const std::string go_on = where_to_go_on(next);
    if (go_on.empty()) return sheet_.line(hint);
    if (width_of(go_on) + kGap + width_of(hint) <= sheet_.width()) {
      return sheet_.line(go_on + std::string(kGap, ' ') + hint);
    }
    sheet_.line(go_on);
    sheet_.line(hint);
  }

  std::string where_to_go_on(int next) const {
    if (options_.file.empty() || options_.line <= 0) return "";
    const auto task = std::find_if(record_.tasks.begin(), record_.tasks.end(),
                                   [&](const auto& each) { return each.id == next; });
    const bool begun = task->verdict != Verdict::kNotStarted;
    return fmt::format("{} with {}.{}: {}:{}", begun ? "Go on" : "Start", record_.lab, next,
                       printable(options_.file), options_.line);
  }

  const Record& record_;
  const CheckOptions& options_;
  Sheet sheet_;
  FailureText failures_;
  std::set<std::string> hints_;  // each is given once
};

}  // namespace

std::string render_check(const Record& record, const CheckOptions& options) {
  return CheckText(record, options).all();
}

std::string render_diagnoses(const Record& record, const CheckOptions& options) {
  return CheckText(record, options).diagnoses();
}

int next_task(const Record& record) {
  for (const record::Task& task : record.tasks) {
    if (task.verdict != Verdict::kPass) return task.id;
  }
  return 0;
}

}  // namespace gradlab::render
