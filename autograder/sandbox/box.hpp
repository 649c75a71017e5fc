// From a Command to the Launch that runs it: bubblewrap's arguments, the mounts in their order, the
// uid, or what may be opened.
#pragma once

#include <string>

#include "sandbox/launch.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab::sandbox {

// Throws SandboxError kNotOffered, kNoBubblewrap, kBadCommand, kStart.
Launch plan(const Command& command, Isolation isolation, bool channel);

// Its parts without bubblewrap. REQUIRES: check(command).
Launch none(const Command& command, bool channel);
Launch container(const Command& command, bool channel);

// What this process lacks for isolation container; empty when nothing. Starts nothing.
const std::string& why_no_container();

}  // namespace gradlab::sandbox
