// The inline functions of a precompiled header, compiled once. At -O0 a hand-in compiles every one
// that it reaches, 0.1 to 0.5 s a file (clang 19, LibTorch 2.11): clang can leave them to one
// object instead, which becomes a shared object that the runner loads before the hand-in.
#pragma once

#include <string>
#include <vector>

#include "compile/box.hpp"

namespace gradlab::compile {

// Of clang, and a lab whose hand-ins are not optimised.
bool shares_functions(const Toolchain& toolchain, const manifest::Manifest& lab);

// The flag that the header has to be compiled with.
inline constexpr const char* kShareFunctions = "-fpch-codegen";
inline constexpr const char* kFunctions = "functions.so";

// Makes kFunctions from the header in the folder `out`, of the host. `limits`: of each step. False
// where this toolchain cannot; then the header is to be compiled without the flag.
bool build_functions(const Place& place, const std::string& out, const sandbox::Limits& limits);

}  // namespace gradlab::compile
