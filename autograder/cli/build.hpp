// The labs' programs are built on first use: this asks ninja for one lab, quietly, and lets CMake
// look again when files came or went. Nothing to do costs a few milliseconds.
#pragma once

#include <string>

#include "cli/workspace.hpp"

namespace gradlab::cli {

// Brings judge_<slug>, runner_<slug> and tables/<slug>.o up to date. When that takes more than a
// second it says so once, on stderr. Throws GraderFault with the end of the build's output.
void ensure_built(const Workspace& workspace, const std::string& slug);

// Any target of build/release, with the same care; `what` completes "building …".
void ensure_target(const Workspace& workspace, const std::string& target, const std::string& what);

// The build folder of the project's own tests, configured; builds everything in it, ninja's lines
// shown as they come. Throws GraderFault.
void build_tests(const Workspace& workspace, bool terminal);

}  // namespace gradlab::cli
