// How a compile ended, from what the sandbox and the compiler said.
#pragma once

#include <string>

#include "compile/compile.hpp"

namespace gradlab::compile {

// Sets outcome, diagnostics, warnings, log and note; not library. `made`: the shared object is
// there.
void judge_outcome(Compiled& compiled, const sandbox::Result& result, const manifest::Manifest& lab,
                   const std::string& student_file, bool made);

// The header that makes compiling slow, as included; empty: none.
std::string heavy_header_in(const std::string& source);

// The compiler refuses the precompiled header: it is damaged, or a header changed without its time.
bool blames_header(const std::string& log);

}  // namespace gradlab::compile
