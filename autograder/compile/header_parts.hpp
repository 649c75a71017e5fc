// What a lab's precompiled header is made of: which headers, which masks, what is instantiated.
#pragma once

#include <string>

#include "compile/box.hpp"

namespace gradlab::compile {

// Into the header's folder. Throws CompileError.
void write_parts(const Place& place);

// Everything of ours that goes into it, LibTorch left out: other bytes make another header.
std::string text_of_parts(const Place& place);

}  // namespace gradlab::compile
