#include "render/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "record/utf8.hpp"

namespace gradlab::render {
namespace {

using record::code_point_at;

// Control characters, and the marks that hide, reorder or break a line.
bool is_active(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
         (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff) || c == 0xfffe ||
         c == 0xffff;
}

std::string made_visible(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  if (c < 0x100) return fmt::format("\\x{:02x}", static_cast<unsigned>(c));
  return fmt::format("\\u{:04x}", static_cast<unsigned>(c));
}

// Close enough for a table: combining marks take no cell, East Asian wide and emoji two.
int cells(char32_t c) {
  if ((c >= 0x300 && c <= 0x36f) || (c >= 0xfe00 && c <= 0xfe0f)) return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
                    (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
                    (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                    (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) ||
                    (c >= 0x20000 && c <= 0x3fffd);
  return wide ? 2 : 1;
}

// The bytes of `text` that fit into `width` cells.
std::size_t fitting(std::string_view text, int width) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto point = code_point_at(text, at);
    width -= cells(point.value);
    if (width < 0) break;
    at += point.length;
  }
  return at;
}

// One line without a new line in it, in pieces.
void wrap_line(std::string_view line, int width, std::vector<std::string>& out) {
  while (width_of(line) > width) {
    const std::size_t most = std::max<std::size_t>(fitting(line, width), 1);
    // A blank right after what fits counts: the word before it is whole.
    std::size_t at = line.rfind(' ', most);
    if (at == std::string_view::npos || line.find_first_not_of(' ') >= at) at = most;
    std::string_view piece = line.substr(0, at);
    while (piece.ends_with(' ')) piece.remove_suffix(1);
    out.emplace_back(piece);
    line.remove_prefix(at);
    while (line.starts_with(' ')) line.remove_prefix(1);
  }
  out.emplace_back(line);
}

}  // namespace

std::string printable(std::string_view text, Lines lines) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto point = code_point_at(text, at);
    if (!point.valid) {
      result += "\xEF\xBF\xBD";
    } else if (lines == Lines::kMany && point.value == '\n') {
      result += '\n';
    } else if (lines == Lines::kMany && point.value == '\t') {
      result += "    ";
    } else if (is_active(point.value)) {
      result += made_visible(point.value);
    } else {
      result += text.substr(at, point.length);
    }
    at += point.length;
  }
  return result;
}

int width_of(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = code_point_at(text, at);
    width += cells(point.value);
    at += point.length;
  }
  return width;
}

std::string cut(std::string_view text, int width) {
  if (width_of(text) <= width) return std::string(text);
  return std::string(text.substr(0, fitting(text, width - 1))) + "…";
}

std::string cut_at_word(std::string_view text, int width) {
  if (width_of(text) <= width) return std::string(text);
  // The blank right after what fits counts: the word before it is whole.
  const std::size_t most = fitting(text, width - 1);
  std::size_t end = text.rfind(' ', most);
  const bool much_lost = end == std::string_view::npos || width_of(text.substr(0, end)) < width / 2;
  if (much_lost) return cut(text, width);
  while (end > 0 && std::string_view(" ,;:(").find(text[end - 1]) != std::string_view::npos) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string padded(std::string_view text, int width) {
  const int missing = width - width_of(text);
  return std::string(text) + std::string(static_cast<std::size_t>(std::max(missing, 0)), ' ');
}

std::vector<std::string> wrapped(std::string_view text, int width) {
  std::vector<std::string> lines;
  std::size_t from = 0;
  while (true) {
    const std::size_t end = text.find('\n', from);
    wrap_line(text.substr(from, end - from), width, lines);
    if (end == std::string_view::npos) break;
    from = end + 1;
  }
  while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string Paint::wrap(const char* code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace gradlab::render
