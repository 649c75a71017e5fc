// The handout's table of ops under autocast: the CPU column from a run, the CUDA column from the
// lists in LibTorch's ATen/autocast_mode.h.
#pragma once

#include <string>

namespace golden {

// A Markdown table, one line an op, with a line's end after the last.
std::string ops_table();

}  // namespace golden
