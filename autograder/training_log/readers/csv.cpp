#include <algorithm>

#include "training_log/number.hpp"
#include "training_log/readers/readers.hpp"

namespace gradlab::training_log {
namespace {

std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"' && quoted && at + 1 < line.size() && line[at + 1] == '"') {
      cells.back() += line[++at];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

char separator_of(std::string_view line) {
  char best = ',';
  long most = 0;
  for (const char c : {',', ';', '\t'}) {
    const long found = std::count(line.begin(), line.end(), c);
    if (found > most) {
      most = found;
      best = c;
    }
  }
  return best;
}

}  // namespace

bool CsvReader::is_header(std::string_view line) {
  const char separator = separator_of(line);
  if (line.find(separator) == std::string_view::npos) return false;
  if (line.find_first_of("={[|") != std::string_view::npos) return false;
  Fields fields;
  for (const auto& cell : cells_of(line, separator)) {
    if (number_of(cell)) return false;
    fields.add(cell, std::string_view("0"));
  }
  Step step;
  return fill_step(fields, step) > 0;
}

CsvReader::CsvReader(std::string_view header)
    : separator_(separator_of(header)), names_(cells_of(trimmed(header), separator_)) {}

bool CsvReader::read(std::string_view line, Sink& sink) {
  const auto cells = cells_of(trimmed(line), separator_);
  if (cells.size() > names_.size()) return false;
  Fields fields;
  bool any = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = trimmed(cells[i]);
    any = any || !cell.empty();
    if (!cell.empty()) fields.add(names_[i], cell);
  }
  Step step;
  // A row of the evaluation, or one that holds only the rate: nothing of a step's, and no fault.
  if (fill_step(fields, step) == 0) return any && (step.step || step.epoch);
  sink.step(std::move(step));
  return true;
}

}  // namespace gradlab::training_log
