// Limits of the shell that the command was started from. They reach compiler, judge and runner,
// where they would look like a fault of the hand-in.
#pragma once

#include "cli/app.hpp"
#include "manifest/manifest.hpp"

namespace gradlab::cli {

// Throws GraderFault, with the line that mends it, where one is lower than the lab's own.
void refuse_low_limits(const Manifest& lab);

}  // namespace gradlab::cli
