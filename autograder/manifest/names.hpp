// What a name in lab.toml may look like. These names become paths, #include lines and macros, so
// they are plain.
#pragma once

#include <string_view>

namespace gradlab::manifest {

bool is_snake(std::string_view text);   // lower_snake, a letter first
bool is_header(std::string_view text);  // "torch/types.h": as after #include, no "..", not absolute
bool is_source_name(std::string_view text);  // "clipping.cpp": no folder
bool is_cpp_name(std::string_view text);     // "torch::nn::utils::clip_grad_norm_"

}  // namespace gradlab::manifest
