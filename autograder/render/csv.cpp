#include "render/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "render/terminal.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

bool is_formula(std::string_view text) {
  const auto at = text.find_first_not_of('\'');
  return at != std::string_view::npos &&
         std::string_view("=+-@\t\r").find(text[at]) != std::string_view::npos;
}

std::string quoted(const std::string& cell) {
  const bool plain = cell.find_first_of("\",;\r\n\t") == std::string::npos &&
                     !cell.starts_with(' ') && !cell.ends_with(' ');
  if (plain) return cell;
  std::string result = "\"";
  for (const char c : cell) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

std::string text_cell(std::string_view text) {
  // A sheet is also read with cat: what moves a cursor or turns the writing is made visible.
  return quoted(printable(csv_neutral(text), Lines::kMany));
}

std::string note_of(const Record& record) {
  std::vector<std::string> parts;
  if (!record.score) {
    parts.push_back(what_failed_first(record));
  } else if (!record.message.empty()) {
    parts.push_back(record.message);
  }
  parts.insert(parts.end(), record.notes.begin(), record.notes.end());
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string csv_neutral(std::string_view text) {
  return is_formula(text) ? "'" + std::string(text) : std::string(text);
}

std::string csv_restore(std::string_view cell) {
  return std::string(cell.starts_with('\'') && is_formula(cell) ? cell.substr(1) : cell);
}

std::string grades_csv(const std::vector<Record>& records, const Manifest& manifest) {
  std::string csv = "student,score,max_score,verdict";
  for (const manifest::Task& task : manifest.tasks) {
    csv += fmt::format(",{}.{}", manifest.slug, task.id);
  }
  csv += ",isolation,seed,note\r\n";
  for (const Record& record : records) {
    csv += fmt::format("{},{},{},{}", text_cell(record.student),
                       record.score ? std::to_string(*record.score) : "", record.max_score,
                       record::to_string(record.verdict));
    for (const manifest::Task& wanted : manifest.tasks) {
      csv += ',';
      for (const record::Task& task : record.tasks) {
        if (task.id == wanted.id && record.score) csv += std::to_string(task.points);
      }
    }
    csv += fmt::format(",{},{},{}\r\n", text_cell(record.isolation), text_cell(record.seed),
                       text_cell(note_of(record)));
  }
  return csv;
}

}  // namespace gradlab::render
