// The little that a question's text knows of form: maths, which a terminal shows as plain text and
// Anki as MathJax.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradlab::drills {

// A piece of a text in both forms.
std::string maths(std::string_view plain, std::string_view latex);
// A number in both: 1e-07 and 10^{-7}.
std::string number(double value);

// As a person would type it: 65536, 0.2, 1e-07; at most six digits, whole numbers all of them.
std::string shown(double value);
std::string shown(const std::vector<double>& values);        // "8 16 4"
std::string vector_text(const std::vector<double>& values);  // "[3, 4]"

std::string plain_text(std::string_view text);
std::string html_text(std::string_view text);  // escaped, maths in \( \)

}  // namespace gradlab::drills
