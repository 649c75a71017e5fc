#include "render/isolation_text.hpp"

#include <set>

#include "render/terminal.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab::render {

std::vector<std::string> not_promised(const std::vector<Record>& records) {
  std::set<std::string> names;
  for (const Record& record : records) names.insert(record.isolation);
  std::vector<std::string> all;
  for (const std::string& name : names) {
    const auto isolation = sandbox::isolation_from(name);
    if (!isolation) continue;
    for (std::string& sentence : sandbox::not_promised(*isolation)) {
      all.push_back(std::move(sentence));
    }
  }
  return all;
}

std::string render_not_promised(const std::vector<Record>& records, int width) {
  const auto sentences = not_promised(records);
  if (sentences.empty()) return "";
  std::string text = "Not promised, because the isolation was not full:\n";
  for (const std::string& sentence : sentences) {
    std::string mark = "  - ";
    for (const std::string& line : wrapped(sentence, width - 4)) {
      text += mark + line + "\n";
      mark = "    ";
    }
  }
  return text;
}

}  // namespace gradlab::render
