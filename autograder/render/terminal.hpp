// Text for a terminal and for any report: hostile bytes made visible, widths, wrapping, colour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradlab::render {

enum class Lines { kOne, kMany };

// Valid UTF-8 without anything that moves a cursor or turns the writing direction: such characters
// are shown as \x1b or \u202e, so that nothing a student named or printed can act. kMany keeps new
// lines and widens tabs.
std::string printable(std::string_view text, Lines lines = Lines::kOne);

// The four below take printable text.
int width_of(std::string_view text);                // cells on a terminal
std::string cut(std::string_view text, int width);  // ends in … where something was lost
// The same, at the end of a word where that loses less than half of the line.
std::string cut_at_word(std::string_view text, int width);
std::string padded(std::string_view text, int width);

// Lines of at most `width` cells, broken at blanks, inside a word only where it is longer than a
// line.
std::vector<std::string> wrapped(std::string_view text, int width);

// ANSI colours; none of it when off. Colour never carries what the words do not say too.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string good(std::string_view text) const { return wrap("32", text); }
  std::string bad(std::string_view text) const { return wrap("31", text); }
  std::string dim(std::string_view text) const { return wrap("90", text); }
  std::string strong(std::string_view text) const { return wrap("1", text); }

 private:
  std::string wrap(const char* code, std::string_view text) const;
  bool on_;
};

}  // namespace gradlab::render
