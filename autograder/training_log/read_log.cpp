// From a path to a report: a file, the standard input, or an ormas run folder.
#include <fmt/format.h>

#include <filesystem>

#include "training_log/number.hpp"
#include "training_log/reading.hpp"

namespace gradlab::training_log {
namespace {

namespace fs = std::filesystem;

void note_encoding(const Lines& lines, Report& report) {
  const auto note = [&](bool is_so, const char* text) {
    if (is_so) report.notes.insert(report.notes.begin(), text);
  };
  note(lines.bytes() == 0, "the file is empty");
  note(lines.is_utf16(), "the file is UTF-16; it was read as that");
  note(!lines.is_utf16() && lines.has_mark(), "the file begins with a byte order mark");
  note(lines.has_crlf() && lines.zero_bytes() == 0, "lines end in CRLF");
  if (lines.zero_bytes() > 0) {
    report.notes.insert(report.notes.begin(),
                        fmt::format("{} zero bytes: this may be no text file",
                                    counted(static_cast<long long>(lines.zero_bytes()))));
  }
  report.bytes = lines.bytes();
}

Report read_file(const std::string& path, const ReadOptions& options) {
  Lines lines(path);
  Reading reading(options);
  Line line;
  while (lines.next(line) || lines.last(line)) reading.line(line);
  Report report = reading.finish(path);
  note_encoding(lines, report);
  return report;
}

std::optional<double> step_in(std::string_view text) {
  Fields fields;
  parse_object(trimmed(text), fields);
  return fields.number("step");
}

// The diary's lines stand before the metrics' row of the same step, so that both become one record.
Report read_run_folder(const fs::path& folder, const ReadOptions& options) {
  Lines metrics((folder / "metrics.jsonl").string());
  Lines diary((folder / "diary.jsonl").string());
  Reading reading(options);
  Line row, entry;
  std::string waiting;
  bool has_waiting = false;
  const auto diary_up_to = [&](std::optional<double> step) {
    while (true) {
      if (!has_waiting) {
        if (!diary.next(entry) && !diary.last(entry)) return;
        waiting = entry.text;
        has_waiting = true;
      }
      const auto at = step_in(waiting);
      if (at && step && *at > *step) return;
      entry.text = waiting;
      reading.line(entry);
      has_waiting = false;
      if (!step) continue;
    }
  };
  while (metrics.next(row) || metrics.last(row)) {
    const std::string text(row.text);
    diary_up_to(step_in(text));
    row.text = text;
    reading.line(row);
  }
  diary_up_to(std::nullopt);
  Report report = reading.finish(folder.string());
  report.bytes = metrics.bytes() + diary.bytes();
  return report;
}

}  // namespace

Report read_log(const std::string& path, const ReadOptions& options) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return read_file(path, options);
  const fs::path folder = path;
  const bool diary = fs::exists(folder / "diary.jsonl", error);
  const bool metrics = fs::exists(folder / "metrics.jsonl", error);
  if (diary && metrics) return read_run_folder(folder, options);
  if (metrics) return read_file((folder / "metrics.jsonl").string(), options);
  if (diary) return read_file((folder / "diary.jsonl").string(), options);
  throw LogError(fmt::format(
      "{}: a folder without diary.jsonl or metrics.jsonl; name the log file in it", path));
}

}  // namespace gradlab::training_log
