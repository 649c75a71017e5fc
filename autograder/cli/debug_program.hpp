// The program of `debug`: the user's file and the lab's experiments in one process, without
// sandbox, with -O0 -g and AddressSanitizer.
#pragma once

#include <filesystem>
#include <string>

#include "cli/app.hpp"
#include "compile/compile.hpp"

namespace gradlab::cli::debug {

struct Program {
  std::filesystem::path path;
  std::filesystem::path input;  // the case that it runs, to be written by the caller
};

// Throws UsageError where the user's file does not compile, GraderFault for the rest.
Program build(const Session& session, const Manifest& lab, const std::string& file,
              const compile::Toolchain& toolchain);

void write_launch_json(const Session& session, const Program& program);

// Stops at each function of `file`. False, and nothing done, where there is no terminal or no gdb.
bool run_in_gdb(Session& session, const Program& program, const std::string& file);
// Runs it to its end, or for 30 s, and prints the line for a debugger.
void run_alone(const Session& session, const Program& program);

}  // namespace gradlab::cli::debug
