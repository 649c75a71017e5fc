#include "render/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "render/words.hpp"

namespace gradlab::render {
namespace {

constexpr int kLeastWidth = 60;
constexpr int kTime = 8;      // "   0.9 s"
constexpr int kVerdict = 13;  // "memory limit" and a blank

std::string blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

}  // namespace

Sheet::Sheet(const Record& record, int width, bool colour)
    : width_(std::max(width, kLeastWidth)),
      number_(static_cast<int>(std::to_string(record.max_score).size())),
      paint_(colour) {}

std::string Sheet::points(int earned, int most) const {
  return fmt::format("{:>{}} of {:<{}}", earned, number_, most, number_);
}

std::string Sheet::earned(int points) const {
  return fmt::format("{:>{}}{}", points, number_, blanks(number_ + 4));
}

std::string Sheet::painted(Verdict verdict) const {
  const std::string word = in_words(verdict);
  if (verdict == Verdict::kPass) return paint_.good(word);
  return is_failed(verdict) ? paint_.bad(word) : paint_.dim(word);
}

void Sheet::row(const Row& row) {
  const int points_width = 2 * number_ + 4;
  const int verdict_width = row.word ? kVerdict : 0;
  const int left_width = width_ - kTime - points_width - verdict_width;
  std::string text = padded(cut_at_word(row.left, left_width - 1), left_width);
  if (!row.label.empty()) text.replace(kLabelAt, row.label.size(), row.painted_label);
  if (row.word) text += painted(*row.word) + blanks(kVerdict - width_of(in_words(*row.word)));
  line(text + padded(row.points, points_width) + row.time);
}

void Sheet::line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  out_ += text + "\n";
}

void Sheet::wrap(int indent, std::string_view text, int hanging) {
  bool first = true;
  for (const std::string& piece : wrapped(text, width_ - indent - hanging)) {
    line(blanks(first ? indent : indent + hanging) + piece);
    first = false;
  }
}

}  // namespace gradlab::render
