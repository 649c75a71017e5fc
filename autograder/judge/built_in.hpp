// What a judge can do without a hand-in: grade what it was built with, and say what that is.
#pragma once

#include <string>

#include "judge/implementations.hpp"

namespace gradlab {

// "reference", "bug:NAME" or "idle:NAME". Throws std::runtime_error for another.
AnyImpl built_in(const std::string& subject);

// For people and tests: grades it and prints one line a check. Returns the exit status for main.
int grade_built_in(const std::string& subject, const std::string& seed);

// Prints what this program was built with, as JSON.
int print_contents();

}  // namespace gradlab
