// Ops under autocast in a float16 region: on the CPU from a run, on CUDA from the lists in
// LibTorch's ATen/autocast_mode.h. The handout's table and the drills' are made of it.
#pragma once

#include <string>

namespace golden {

// A Markdown table, one line an op, with a line's end after the last.
std::string ops_table();
// The same as initialisers of drills::OpDtypes.
std::string drill_dtypes();

}  // namespace golden
