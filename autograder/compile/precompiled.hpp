// The cache of precompiled headers: one folder for everything that goes into one, by hash.
#pragma once

#include <string>
#include <vector>

#include "compile/box.hpp"

namespace gradlab::compile {

// The host folder of the header of this lab, toolchain and isolation; it may not be there yet.
std::string header_folder(const Toolchain& toolchain, sandbox::Isolation isolation,
                          const manifest::Manifest& lab);
bool is_built(const Toolchain& toolchain, const std::string& folder);

// clang's name for it; the folder holds its parts, too.
inline constexpr const char* kHeaderFile = "all.hpp.pch";

// Builds it unless it is; other processes that want the same wait for it. Throws CompileError.
void build_header(const Place& place);
// Builds it anew if not even an empty file compiles with it: it was damaged, or LibTorch's headers
// changed under it. True when it did.
bool mend_header(const Place& place);

// Flags that use it; to be added to compiler().
std::vector<std::string> use_header(const Place& place, const sandbox::Command& command);

// How this clang links a shared object, kept with the header: the linker and its arguments, with
// kInputs and kOutput to be replaced. Calling the linker ourselves saves two starts of clang.
inline constexpr const char* kInputs = "GRADLAB_INPUTS";
inline constexpr const char* kOutput = "GRADLAB_OUTPUT";
std::vector<std::string> link_line(const std::string& folder);

}  // namespace gradlab::compile
