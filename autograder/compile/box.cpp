#include "compile/box.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "compile/files.hpp"

namespace gradlab::compile {
namespace fs = std::filesystem;
namespace {

// Where LibTorch keeps a header that is included as <header>.
std::string place_in_libtorch(const std::string& torch, const std::string& header) {
  const std::string include = torch + "/include";
  for (const char* folder : {"/torch/csrc/api/include/", "/"}) {
    std::string place = folder + header;
    if (fs::exists(include + place)) return place;
  }
  return {};
}

// A header that costs time and is of no use; its mask says more.
constexpr const char* kUnused = "ATen/NativeFunctions.h";

// Limits inside the compiler, so that most bombs end as errors with a line number. Without
// -fno-crash-diagnostics clang starts once more after it ran out of memory.
const std::vector<std::string>& clang_limits() {
  static const std::vector<std::string> flags{
      "-fno-crash-diagnostics",      "-fno-color-diagnostics",    "-ferror-limit=20",
      "-ftemplate-depth=256",        "-fconstexpr-steps=1000000", "-fmacro-backtrace-limit=4",
      "-ftemplate-backtrace-limit=4"};
  return flags;
}

// LibTorch is built with g++; without this, const_data_ptr<float>() mangles otherwise and is
// missing.
constexpr const char* kManglesAsGcc = "-fclang-abi-compat=17";

const std::vector<std::string>& gcc_limits() {
  static const std::vector<std::string> flags{
      "-fdiagnostics-color=never", "-fmax-errors=20", "-ftemplate-depth=256",
      "-fconstexpr-ops-limit=1000000", "-ftemplate-backtrace-limit=4"};
  return flags;
}

}  // namespace

std::vector<Mask> masks(const Place& place) {
  std::vector<Mask> all;
  const auto add = [&](const std::string& header, bool forbidden) {
    const std::string file =
        place.toolchain.root + "/autograder/compile/masks/" + flat_name(header);
    const bool there = access(file.c_str(), R_OK) == 0;
    if (there || forbidden) all.push_back({header, there ? file : "", forbidden});
  };
  for (const std::string& header : place.lab.forbidden_headers) add(header, true);
  add(kUnused, false);
  return all;
}

std::vector<sandbox::Mount> header_folders(const Toolchain& toolchain,
                                           const manifest::Manifest& lab) {
  std::vector<sandbox::Mount> all{{toolchain.torch + "/include", kLibtorch},
                                  {toolchain.root + "/labs/common", kCommon},
                                  {lab.directory.string(), kLab}};
  for (const std::string& library : lab.libraries) {
    all.push_back({toolchain.root + "/reference/" + library + "/include",
                   std::string(kLibraries) + "/" + library});
  }
  return all;
}

sandbox::Command box(const Place& place) {
  sandbox::Command command;
  // Large pages for the compiler's heap, where the kernel gives them (glibc 2.35): a tenth of its
  // time.
  command.environment = {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}};
  command.mounts = header_folders(place.toolchain, place.lab);
  command.mounts.push_back({place.header, kHeader});
  for (const Mask& mask : masks(place)) {
    const std::string inside = place_in_libtorch(place.toolchain.torch, mask.header);
    if (inside.empty()) continue;
    command.mounts.push_back({place.header + "/masks/" + mask.header, kLibtorch + inside});
  }
  return command;
}

std::vector<std::string> compiler(const Place& place, const sandbox::Command& command) {
  const auto inside = [&](const std::string& path) {
    return path_inside(command, place.isolation, path);
  };
  std::vector<std::string> argv{place.toolchain.compiler,
                                "-std=c++20",
                                place.lab.optimised ? "-O1" : "-O0",
                                "-fPIC",
                                "-g0",
                                "-Wall"};
  const auto& limits = place.toolchain.clang ? clang_limits() : gcc_limits();
  argv.insert(argv.end(), limits.begin(), limits.end());
  if (place.toolchain.clang) argv.push_back(kManglesAsGcc);
  // Without a mount to cover the header with, the mask is found before it.
  if (place.isolation != sandbox::Isolation::kFull) {
    argv.insert(argv.end(), {"-isystem", place.header + "/masks"});
  }
  const std::string torch = inside(kLibtorch);
  argv.insert(argv.end(), {"-isystem", torch, "-isystem", torch + "/torch/csrc/api/include",
                           "-I" + inside(kCommon), "-I" + inside(kLab)});
  for (const std::string& library : place.lab.libraries) {
    argv.push_back("-I" + inside(std::string(kLibraries) + "/" + library));
  }
  return argv;
}

std::string quoted(const std::string& argument) {
  std::string word = "'";
  for (const char c : argument) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace gradlab::compile
