// Code and tables in a handout, and the files that they are from.
#pragma once

#include <string>

namespace shown_code {

// The text of a file below GRADLAB_ROOT.
std::string text_of(const std::string& path);

// What stands between two lines that hold `begin` and `end`, without them; "" where they are
// missing.
std::string between(const std::string& text, const std::string& begin, const std::string& end);

// The region `//! [name]` of a source file, without the indentation that all of it has.
std::string region(const std::string& file, const std::string& name);

// The code that a handout shows of it, below the line `<!-- file [name] -->`.
std::string shown(const std::string& handout, const std::string& file, const std::string& name);

}  // namespace shown_code
