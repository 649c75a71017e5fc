#include "render/check_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "render/terminal.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

constexpr int kTimeColumn = 8;  // right of the points
constexpr int kPoints = 8;      // "12 of 20", flush right
constexpr int kVerdict = 12;    // "memory limit"
constexpr int kLabel = 6;       // "FAIL  "
constexpr int kIndent = 6;
constexpr int kMostOutputLines = 20;

// A piece of text and, unseen by the layout, its colour.
struct Column {
  std::string text;
  std::string painted;
};

class CheckText {
 public:
  CheckText(const Record& record, const CheckOptions& options)
      : record_(record),
        options_(options),
        paint_(options.colour),
        points_end_(std::max(options.width, 60) - kTimeColumn) {}

  std::string all() {
    header();
    const bool ran = !record_.refusal && record_.diagnostics.empty();
    if (record_.diagnostics.empty() && !record_.message.empty()) {
      lines(2, printable(record_.message));
    }
    for (const auto& diagnostic : record_.diagnostics) compiler_error(diagnostic);
    if (ran) {
      for (const auto& task : record_.tasks) task_lines(task);
      student_output();
    }
    for (const std::string& note : record_.notes) lines(0, "note: " + printable(note));
    if (options_.tips) tip(ran);
    return out_;
  }

  std::string diagnoses() {
    for (const auto& task : record_.tasks) {
      for (const auto& check : task.checks) {
        if (!check.behaves_like) continue;
        lines(2, fmt::format("{}.{}  {}", record_.lab, task.id, printable(check.title)));
        bug(check, kIndent);
      }
    }
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  void lines(int indent, const std::string& text, int hanging = 0) {
    const int width = std::max(options_.width, 60) - indent - hanging;
    bool first = true;
    for (const std::string& piece : wrapped(text, width)) {
      line(std::string(static_cast<std::size_t>(first ? indent : indent + hanging), ' ') + piece);
      first = false;
    }
  }

  // `left`, cut where it would run into `right`, which ends in the column of the points.
  std::string row(const std::string& left, const Column& middle, const std::string& right) const {
    const int right_at = points_end_ - std::max(kPoints, width_of(right));
    const int middle_width = middle.text.empty() ? 0 : kVerdict;
    const int left_width = right_at - middle_width;
    std::string text = padded(cut(left, left_width - 1), left_width);
    if (middle_width > 0) {
      text += middle.painted;
      text +=
          std::string(static_cast<std::size_t>(std::max(kVerdict - width_of(middle.text), 0)), ' ');
    }
    return text +
           std::string(static_cast<std::size_t>(points_end_ - right_at - width_of(right)), ' ') +
           right;
  }

  Column verdict(Verdict v) const {
    const std::string word = in_words(v);
    if (v == Verdict::kPass) return {word, paint_.good(word)};
    if (v == Verdict::kNotStarted || v == Verdict::kBlocked) return {word, paint_.dim(word)};
    return {word, paint_.bad(word)};
  }

  std::string time() const { return fmt::format("{:>6.1f} s", record_.timing.total_s); }

  void header() {
    const std::string lab = padded(record_.lab, 11);
    const bool title = !record_.refusal || record_.verdict == Verdict::kNotStarted;
    if (title && record_.score) {
      const auto points = fmt::format("{} of {}", *record_.score, record_.max_score);
      line(row(lab + record_.title, {}, points) + time());
    } else {
      line(row(lab + of_hand_in(record_.verdict), {}, "") + time());
    }
  }

  void task_lines(const record::Task& task) {
    line(row(fmt::format("  {}.{}  {}", record_.lab, task.id, task.title), verdict(task.verdict),
             fmt::format("{} of {}", task.points, task.max_points)));
    if (task.verdict == Verdict::kPass || task.verdict == Verdict::kNotStarted) return;
    if (task.verdict == Verdict::kGraderError) return fault_lines(task);
    bool first = true;
    std::set<std::string> bugs;
    for (const auto& check : task.checks) {
      check_line(check);
      if (check.verdict == Verdict::kPass || check.verdict == Verdict::kNotStarted) continue;
      const int indent = kIndent + kLabel;
      if (check.verdict == Verdict::kBlocked) {
        lines(indent, printable(explained(record_, check)));
        continue;
      }
      // The first failure in full; of the others what differs, so that nothing scrolls away.
      first ? details(check, indent) : one_line(check, indent);
      if (check.behaves_like && bugs.insert(check.behaves_like->bug).second) bug(check, indent);
      if (first) read_on(task, check, indent);
      first = false;
    }
  }

  // What the grader failed at is no list of failures to work through: each reason once.
  void fault_lines(const record::Task& task) {
    std::set<std::string> reasons;
    for (const auto& check : task.checks) {
      if (check.verdict == Verdict::kGraderError && reasons.insert(check.message).second) {
        lines(kIndent, printable(check.message));
      }
    }
  }

  void check_line(const record::Check& check) {
    std::string label = "FAIL", painted = paint_.bad(label);
    if (check.verdict == Verdict::kPass) painted = paint_.good(label = "ok");
    if (check.verdict == Verdict::kNotStarted) painted = paint_.dim(label = "-");
    if (check.verdict == Verdict::kBlocked) painted = paint_.dim(label = "wait");
    const bool pass = check.verdict == Verdict::kPass;
    const auto points = pass ? fmt::format("{}", check.points)
                             : fmt::format("{} of {}", check.points, check.max_points);
    std::string text = row(std::string(kIndent + kLabel, ' ') + printable(check.title), {}, points);
    text.replace(kIndent, label.size(), painted);
    line(text);
  }

  void details(const record::Check& check, int indent) {
    if (check.verdict != Verdict::kFail) {
      lines(indent, in_words(check.verdict) +
                        (check.message.empty() ? "" : ": " + printable(check.message)));
    } else if (!check.failing && !check.message.empty()) {
      lines(indent, printable(check.message));
    }
    if (!check.failing) return;
    const record::Failing& failing = *check.failing;
    for (const std::string& text :
         {case_text(failing), place_and_values(failing), how_far(failing)}) {
      if (!text.empty()) lines(indent, printable(text));
    }
  }

  void one_line(const record::Check& check, int indent) {
    std::string text = check.failing ? place_and_values(*check.failing) : check.message;
    if (check.verdict != Verdict::kFail) text = in_words(check.verdict) + ": " + check.message;
    if (text.empty()) return;
    lines(indent, cut(printable(text), std::max(options_.width, 60) - indent));
  }

  static std::string place_and_values(const record::Failing& failing) {
    const std::string values = expected_and_got(failing);
    if (failing.place.empty()) return values;
    return fmt::format("at {}{}{}", failing.place, values.empty() ? "" : ": ", values);
  }

  void bug(const record::Check& check, int indent) {
    lines(indent, "behaves like: " + printable(behaves_like(*check.behaves_like)));
  }

  void read_on(const record::Task& task, const record::Check& check, int indent) {
    const std::string read = fmt::format("read: handouts/{}.md#{}", record_.lab, task.id);
    const std::string again = check.reproduce.empty() ? "" : "again: " + printable(check.reproduce);
    const int width = std::max(options_.width, 60) - indent;
    if (!again.empty() && width_of(again) + 8 + width_of(read) <= width) {
      line(std::string(static_cast<std::size_t>(indent), ' ') + again + "        " + read);
    } else {
      if (!again.empty()) lines(indent, again, 7);
      lines(indent, read);
    }
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
    lines(2, fmt::format("{}: error: {}", place, printable(diagnostic.message)), 2);
    // Not wrapped: the marks under the code must stay under it.
    for (const std::string& excerpt : diagnostic.excerpt) {
      line("  " + cut(printable(excerpt, Lines::kMany), 2 * std::max(options_.width, 60)));
    }
    if (!diagnostic.hint.empty()) lines(2, printable(diagnostic.hint));
  }

  void student_output() {
    if (record_.student_output.empty()) return;
    line("you printed (in that case):");
    const auto printed =
        wrapped(printable(record_.student_output, Lines::kMany), std::max(options_.width, 60) - 2);
    const auto shown = std::min<std::size_t>(printed.size(), kMostOutputLines);
    for (std::size_t i = 0; i < shown; ++i) line("  " + printed[i]);
    if (shown < printed.size()) {
      line(paint_.dim(fmt::format("  … {} more lines", printed.size() - shown)));
    } else if (record_.output_cut) {
      line(paint_.dim("  … the rest was cut"));
    }
  }

  void tip(bool ran) {
    const int next = next_task(record_);
    if (record_.verdict == Verdict::kGraderError) {
      return lines(
          0,
          "This is a fault of the grader, not of your file. Run the same command again, then "
          "./gradlab doctor " +
              record_.lab);
    }
    if (!ran || next == 0) return;
    const auto task = std::find_if(record_.tasks.begin(), record_.tasks.end(),
                                   [&](const auto& t) { return t.id == next; });
    const std::string hint = fmt::format("hint: ./gradlab hint {}.{}", record_.lab, next);
    std::string go_on;
    if (!options_.file.empty() && options_.line > 0) {
      const bool begun = task->verdict != Verdict::kNotStarted;
      go_on = fmt::format("{} with {}.{}: {}:{}", begun ? "Go on" : "Start", record_.lab, next,
                          printable(options_.file), options_.line);
    }
    if (go_on.empty()) return line(hint);
    if (width_of(go_on) + 8 + width_of(hint) <= options_.width)
      return line(go_on + "        " + hint);
    line(go_on);
    line(hint);
  }

  const Record& record_;
  const CheckOptions& options_;
  Paint paint_;
  int points_end_;
  std::string out_;
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
