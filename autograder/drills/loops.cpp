#include "drills/loops.hpp"

#include <cstdlib>
#include <stdexcept>

namespace gradlab::drills {
namespace {

std::string indent_of(const std::string& line) {
  const auto first = line.find_first_not_of(' ');
  return line.substr(0, first == std::string::npos ? 0 : first);
}

int find(const std::vector<std::string>& lines, const std::string& text, int occurrence) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool same = lines[i].substr(indent_of(lines[i]).size()) == text;
    if (same && occurrence-- == 0) return static_cast<int>(i);
  }
  return -1;
}

int find_in(const Loop& loop, const std::string& text, int occurrence = 0) {
  const int found = find(loop.lines, text, occurrence);
  if (found < 0) throw std::logic_error(loop.name + " has no line '" + text + "'");
  return found;
}

// The indent of a line that comes to stand behind this one.
std::string indent_behind(const std::string& line) {
  return indent_of(line) + (line.ends_with("{") ? "  " : "");
}

}  // namespace

Mutated mutated(const Loop& loop, const Mutation& mutation) {
  const int at = find_in(loop, mutation.line, mutation.occurrence);
  Mutated result{loop.lines, {at}};
  auto& lines = result.lines;
  if (mutation.before.empty()) {
    lines[static_cast<std::size_t>(at)] =
        indent_of(lines[static_cast<std::size_t>(at)]) + mutation.instead;
    return result;
  }
  int to = find_in(loop, mutation.before);
  lines.erase(lines.begin() + at);
  if (to > at) --to;
  const auto behind = lines[static_cast<std::size_t>(to - 1)];
  lines.insert(lines.begin() + to, indent_behind(behind) + mutation.line);
  result.wrong = {to};
  if (std::abs(to - at) == 1) result.wrong.push_back(at);  // two neighbours have changed places
  return result;
}

int place_of(const Mutated& in, const std::string& line, int occurrence) {
  return find(in.lines, line, occurrence);
}

}  // namespace gradlab::drills
