// Small helpers for text: the nearest known word, lists as people write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradlab::cli {

// The one of `known` that is most likely meant; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

std::string joined(const std::vector<std::string>& words, const std::string& last = "and");

// Cells a text takes on a terminal: code points, not bytes.
int width_of(std::string_view utf8);
// Filled with blanks to `width`; a longer text is cut and ends in "…".
std::string padded(const std::string& text, int width);
// Broken at blanks to lines of at most `width`, each after `indent` blanks; ends in a new line.
std::string wrapped(const std::string& text, int width, int indent = 0);

}  // namespace gradlab::cli
