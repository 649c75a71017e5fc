// A compiler's or linker's text as data. The text is partly the student's, so nothing here recurses
// or trusts a length.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.hpp"

namespace gradlab::compile {

inline constexpr std::size_t kKept = 5;  // errors and warnings that are kept of each

struct Messages {
  std::vector<Diagnostic> errors;
  std::vector<Diagnostic> warnings;
};

// `student_file` is the name that the hand-in was compiled under. An error that lies in a header is
// told at the line of the hand-in that led there. REQUIRES: `log` is printable().
Messages parse_messages(const std::string& log, const std::string& student_file);

// Valid UTF-8, without control bytes but tab and new line; others become '?'.
std::string printable(const std::string& bytes);

}  // namespace gradlab::compile
