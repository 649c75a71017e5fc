// The judge as a server: one order a line on stdin, events on stdout, a forked child for each.
#pragma once

#include <string>

namespace gradlab {

// Serves until stdin ends. Returns the exit status for main.
int serve_orders();

// For people and tests: grades a built-in implementation ("reference", "bug:NAME", "idle:NAME") and
// prints one line a check.
int grade_built_in(const std::string& subject, const std::string& seed);

// Prints what this program was built with, as JSON.
int print_contents();

}  // namespace gradlab
