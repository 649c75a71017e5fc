// Command lines that stand in a text: would they be understood?
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/workspace.hpp"

namespace gradlab::cli {

// What is wrong with "./gradlab check clipping --task 2", or nothing. A word in capitals stands for
// something and is always right.
std::string wrong_command(const CLI::App& app, const Workspace& workspace, const std::string& line);

}  // namespace gradlab::cli
