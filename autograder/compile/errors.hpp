// Every sentence of this room, as named factories; the hints to compiler errors are in hints.cpp.
#pragma once

#include <string>

#include "compile/compile.hpp"

namespace gradlab::compile::errors {

CompileError no_toolchain(const std::string& file);
CompileError toolchain_lacks(const std::string& file, const std::string& key);
CompileError no_compiler(const std::string& path);
CompileError no_libtorch(const std::string& folder, const std::string& missing);
CompileError damaged_libtorch(const std::string& file);
CompileError other_libtorch(const std::string& folder, const std::string& is,
                            const std::string& should_be);
CompileError no_cache(const std::string& path, const std::string& why);
CompileError no_precompiled_header(const std::string& lab, const std::string& said);
CompileError not_prepared(const std::string& lab);
CompileError no_table(const std::string& path, const std::string& lab);
CompileError no_file(const std::string& path, const std::string& why);
CompileError no_link_line(const std::string& said);

std::string forbidden(const std::string& name, int line);
std::string heavy_header(const std::string& header, double seconds);
std::string slow_compiler();
std::string compiler_crashed();
std::string killed_by_machine();
std::string fails_on_skeleton(const std::string& said);
std::string grader_fault(const std::string& what);
std::string out_of_time(double seconds);
std::string out_of_memory(long mib);
std::string too_much_output();

}  // namespace gradlab::compile::errors
