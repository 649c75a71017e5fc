// As much of Markdown as a handout needs: its sections, and what stands in them as code.
#pragma once

#include <string>
#include <vector>

namespace gradlab::doctor {

struct Section {
  std::string heading;  // "Task 2: clip in place"; empty for what comes before the first
  int task = 0;         // 2; 0 where the heading is of no task
  int line = 1;
  std::string text;               // without its code blocks
  std::vector<std::string> code;  // `spans`, and the lines of code blocks
};

// Split at headings of the second level.
std::vector<Section> sections_of(const std::string& markdown);

}  // namespace gradlab::doctor
