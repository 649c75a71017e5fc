// The sandbox command of a compile: neutral paths, mounts, flags. The precompiled header and the
// hand-ins are compiled by the same one, because a precompiled header loads only under the paths
// and flags that it was built with.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.hpp"

namespace gradlab::compile {

// Paths in the box.
inline constexpr const char* kLibtorch = "/opt/libtorch/include";
inline constexpr const char* kCommon = "/opt/gradlab/common";
inline constexpr const char* kLab = "/opt/gradlab/lab";
inline constexpr const char* kLibraries = "/opt/gradlab/libraries";  // a folder of headers each
inline constexpr const char* kHeader = "/opt/gradlab/header";  // the precompiled one, and its parts
inline constexpr const char* kTable = "/opt/gradlab/table.o";
inline constexpr const char* kExports = "/opt/gradlab/exports.map";
inline constexpr const char* kHand = "/hand";
inline constexpr const char* kOut = "/out";

// Of one process: clang keeps the headers open that it reads beside a precompiled one.
inline constexpr int kOpenFiles = 4096;

struct Place {
  const Toolchain& toolchain;
  sandbox::Isolation isolation;
  const manifest::Manifest& lab;
  std::string header;  // host folder of the precompiled header
};

struct Mask {
  std::string header;  // as it is included: torch/nn/utils/clip_grad.h
  std::string file;    // host file; empty: there is no mask, including the header is refused
  bool forbidden;      // false: it is left out because it is slow
};
std::vector<Mask> masks(const Place& place);

// The folders of headers on the host, and where each lies in the box.
std::vector<sandbox::Mount> header_folders(const Toolchain& toolchain,
                                           const manifest::Manifest& lab);
// LibTorch's and the lab's headers, the precompiled header's folder, masks over forbidden headers.
sandbox::Command box(const Place& place);
// The compiler with the flags that all steps share, paths as the command meets them.
std::vector<std::string> compiler(const Place& place, const sandbox::Command& command);
// A shell word: the argument in quotes.
std::string quoted(const std::string& argument);

}  // namespace gradlab::compile
