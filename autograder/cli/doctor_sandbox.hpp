// ./gradlab doctor --sandbox: what a box promises, tried out on this machine.
#pragma once

#include "cli/app.hpp"

namespace gradlab::cli {

// Prints a table of promises, a column for each isolation that works here. Exit status 1 where one
// is broken.
void examine_sandbox(Session& session);

}  // namespace gradlab::cli
