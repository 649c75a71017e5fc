#include "doctor/markdown.hpp"

#include <cstdlib>
#include <sstream>

namespace gradlab::doctor {
namespace {

int task_of(const std::string& heading) {
  constexpr std::string_view kWord = "Task ";
  return heading.starts_with(kWord) ? std::atoi(heading.c_str() + kWord.size()) : 0;
}

// What stands between backticks. A span may go on in the next line, never in the next paragraph.
void add_spans(Section& section) {
  const std::string& text = section.text;
  for (size_t open = text.find('`'); open != std::string::npos; open = text.find('`', open)) {
    const size_t close = text.find('`', open + 1);
    if (close == std::string::npos) return;
    std::string span = text.substr(open + 1, close - open - 1);
    open = close + 1;
    if (span.find("\n\n") != std::string::npos) continue;
    for (char& c : span) {
      if (c == '\n') c = ' ';
    }
    section.code.push_back(span);
  }
}

}  // namespace

std::vector<Section> sections_of(const std::string& markdown) {
  std::vector<Section> sections(1);
  std::istringstream lines(markdown);
  bool in_block = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) {
      in_block = !in_block;
    } else if (in_block) {
      sections.back().code.push_back(line);
    } else if (line.starts_with("## ")) {
      sections.push_back({line.substr(3), task_of(line.substr(3)), number, "", {}});
    } else {
      sections.back().text += line + "\n";
    }
  }
  for (auto& section : sections) add_spans(section);
  return sections;
}

}  // namespace gradlab::doctor
