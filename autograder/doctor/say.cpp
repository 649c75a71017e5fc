#include "doctor/say.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "render/terminal.hpp"

namespace gradlab::doctor {
namespace {

using render::Paint;
using render::printable;
using render::width_of;

const std::string kMargin(8, ' ');

// Items side by side, three blanks apart, each whole on its line.
std::string in_lines(const std::string& slug, const std::vector<std::string>& items,
                     const std::vector<bool>& holds, const View& view) {
  const Paint paint(view.colour);
  const size_t margin = std::max<size_t>(10, slug.size() + 2);
  std::string text = paint.strong(slug) + std::string(margin - slug.size(), ' ');
  int used = static_cast<int>(margin);
  bool first = true;
  for (size_t i = 0; i < items.size(); ++i) {
    const int width = width_of(items[i]);
    if (!first && used + 3 + width > view.width) {
      text += "\n" + std::string(margin, ' ');
      used = static_cast<int>(margin);
      first = true;
    }
    text += (first ? "" : "   ") + (holds[i] ? items[i] : paint.bad(items[i]));
    used += (first ? 0 : 3) + width;
    first = false;
  }
  return text + "\n";
}

std::string block(const std::string& first, const std::string& rest, const std::string& said,
                  int width) {
  std::string text;
  bool at_first = true;
  for (const auto& line : render::wrapped(printable(said), width - width_of(rest))) {
    text += (at_first ? first : rest) + line + "\n";
    at_first = false;
  }
  return text;
}

bool any(const std::vector<Proof>& proofs, bool (*is)(const Problem&)) {
  return std::any_of(proofs.begin(), proofs.end(), [is](const Proof& proof) {
    return std::any_of(proof.problems.begin(), proof.problems.end(), is);
  });
}

}  // namespace

std::string say(const std::string& slug, const std::vector<Proof>& proofs, double seconds,
                const View& view) {
  std::vector<std::string> items;
  std::vector<bool> holds;
  for (const auto& proof : proofs) {
    items.push_back(proof.said);
    holds.push_back(proof.problems.empty());
  }
  items.push_back(fmt::format("{:.0f} s", seconds));
  holds.push_back(true);
  std::string text = in_lines(slug, items, holds, view) + say_problems(proofs, view);
  for (const auto& proof : proofs) {
    for (const auto& note : proof.notes) text += block("  note  ", kMargin, note, view.width);
  }
  return text;
}

std::string say_problems(const std::vector<Proof>& proofs, const View& view) {
  const Paint paint(view.colour);
  std::string text;
  for (const auto& proof : proofs) {
    for (const auto& problem : proof.problems) {
      // Colour after the wrapping, which counts every byte.
      auto said = block("  FAIL  ", kMargin, problem.what, view.width);
      text += "  " + paint.bad("FAIL") + said.substr(6);
      if (!problem.mend.empty()) text += block(kMargin, kMargin, problem.mend, view.width);
    }
  }
  return text;
}

bool is_green(const std::vector<Proof>& proofs) {
  return !any(proofs, [](const Problem&) { return true; });
}

bool is_grader_fault(const std::vector<Proof>& proofs) {
  return any(proofs, [](const Problem& problem) { return problem.grader_fault; });
}

}  // namespace gradlab::doctor
