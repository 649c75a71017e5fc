#include "compile/errors.hpp"

#include <fmt/format.h>

namespace gradlab::compile::errors {

CompileError no_toolchain(const std::string& file) {
  return {CompileErrorKind::kNoToolchain,
          fmt::format("{} is missing: this tree is not set up. Run: ./gradlab setup", file)};
}

CompileError toolchain_lacks(const std::string& file, const std::string& key) {
  return {CompileErrorKind::kBadToolchain,
          fmt::format("{} has no {}= line. Write it anew: ./gradlab setup", file, key)};
}

CompileError no_compiler(const std::string& path) {
  return {CompileErrorKind::kBadToolchain,
          fmt::format("the compiler {} is gone. Install it (apt-get install clang-19), then run: "
                      "./gradlab setup",
                      path)};
}

CompileError no_libtorch(const std::string& folder, const std::string& missing) {
  return {CompileErrorKind::kBadToolchain,
          fmt::format("LibTorch in {} lacks {}. Fetch it again: ./gradlab setup", folder, missing)};
}

CompileError damaged_libtorch(const std::string& file) {
  return {CompileErrorKind::kBadToolchain,
          fmt::format("{} is damaged: it is no shared library. Remove its folder, then run: "
                      "./gradlab setup",
                      file)};
}

CompileError other_libtorch(const std::string& folder, const std::string& is,
                            const std::string& should_be) {
  return {CompileErrorKind::kBadToolchain,
          fmt::format("LibTorch in {} is version {}, and this tree was set up for {}. Run: "
                      "./gradlab setup",
                      folder, is, should_be)};
}

CompileError no_cache(const std::string& path, const std::string& why) {
  return {CompileErrorKind::kCache,
          fmt::format("{} cannot be written ({}). Free some space, or make the folder writable; it "
                      "holds precompiled headers and may be removed.",
                      path, why)};
}

CompileError no_precompiled_header(const std::string& lab, const std::string& said) {
  return {CompileErrorKind::kPrecompiledHeader,
          fmt::format("the precompiled header of lab {} does not build: {}\nCheck 'precompiled' in "
                      "its lab.toml, and its contract header.",
                      lab, said)};
}

CompileError not_prepared(const std::string& lab) {
  return {CompileErrorKind::kPrecompiledHeader,
          fmt::format("the precompiled header of lab {} is not there. Run the command again; it is "
                      "built first.",
                      lab)};
}

CompileError no_table(const std::string& path, const std::string& lab) {
  return {CompileErrorKind::kBadToolchain,
          fmt::format("{} is missing. Build the lab: ninja -C build/release lab_{}", path, lab)};
}

CompileError no_file(const std::string& path, const std::string& why) {
  return {CompileErrorKind::kSandbox, fmt::format("{}: {}. Try again.", path, why)};
}

CompileError no_link_line(const std::string& said) {
  return {CompileErrorKind::kPrecompiledHeader,
          fmt::format("the compiler does not tell how it links: {}. Check that clang and mold are "
                      "installed whole: ./gradlab setup",
                      said)};
}

std::string forbidden(const std::string& name, int line) {
  const std::string where = line > 0 ? fmt::format(" in line {}", line) : "";
  return fmt::format("it uses {}{}, which this lab asks you to write", name, where);
}

std::string heavy_header(const std::string& header, double seconds) {
  return fmt::format(
      "compiling took {:.1f} s because it includes {}, which is all of LibTorch's "
      "C++ frontend; without that line it takes about half a second, since the lab's "
      "header has what you need",
      seconds, header);
}

std::string slow_compiler() {
  return "compiled with g++, which takes several times as long as clang++-19 (apt-get install "
         "clang-19, then ./gradlab setup)";
}

std::string compiler_crashed() {
  return "the compiler itself crashed on this file; deep nesting is the usual reason";
}

std::string fails_on_skeleton(const std::string& said) {
  return fmt::format(
      "not compiled: the compiler fails on the lab's own skeleton too{}{}. Check that clang and "
      "mold "
      "are installed whole and the machine has memory to spare: ./gradlab setup",
      said.empty() ? "" : ": ", said);
}

std::string killed_by_machine() {
  return grader_fault(
      "the machine ended the compiler, as when its memory runs out. Grade again with fewer --jobs, "
      "or "
      "when less is running");
}

std::string grader_fault(const std::string& what) { return fmt::format("not compiled: {}", what); }

std::string out_of_time(double seconds) {
  return fmt::format("the compiler ran out of its {:g} s; templates or constexpr without end?",
                     seconds);
}

std::string out_of_memory(long mib) {
  return fmt::format("the compiler ran out of its {} MiB; templates without end?", mib);
}

std::string too_much_output() { return "the compiler printed without end"; }

}  // namespace gradlab::compile::errors
