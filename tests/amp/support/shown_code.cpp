#include "support/shown_code.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace shown_code {
namespace {

std::string root() {
  const char* folder = std::getenv("GRADLAB_ROOT");
  return folder != nullptr ? folder : ".";
}

// Without the indentation that a whole region has.
std::string shifted(const std::string& text) {
  size_t indent = std::string::npos;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) indent = std::min(indent, line.find_first_not_of(' '));
  }
  std::string out;
  std::istringstream again(text);
  for (std::string line; std::getline(again, line);) {
    out += (line.empty() ? "" : line.substr(indent)) + "\n";
  }
  return out;
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream in(root() + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const size_t first = text.find('\n', from) + 1;
  const size_t to = text.find(end, first);
  if (to == std::string::npos) return "";
  return text.substr(first, text.rfind('\n', to) + 1 - first);
}

std::string region(const std::string& file, const std::string& name) {
  const std::string mark = "//! [" + name + "]";
  return shifted(between(text_of(file), mark, mark));
}

std::string shown(const std::string& handout, const std::string& file, const std::string& name) {
  const std::string place =
      between(text_of(handout), "<!-- " + file + " [" + name + "] -->", "<!-- end -->");
  return between(place, "```cpp", "```");
}

}  // namespace shown_code
