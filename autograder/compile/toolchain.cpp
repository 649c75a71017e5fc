#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "compile/compile.hpp"
#include "compile/errors.hpp"
#include "compile/files.hpp"

namespace gradlab::compile {
namespace fs = std::filesystem;
namespace {

std::map<std::string, std::string> read_keys(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw errors::no_toolchain(path);
  std::map<std::string, std::string> keys;
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) keys[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return keys;
}

// `compiler --version` costs as much as starting gradlab, so its answer is kept beside the cache.
std::string version_of(const std::string& compiler, const std::string& cache) {
  struct stat found{};
  stat(compiler.c_str(), &found);  // of the program behind the links
  const std::string key =
      compiler + " " + std::to_string(found.st_size) + " " + std::to_string(found.st_mtim.tv_sec);
  const std::string memory = cache + "/compiler";
  std::ifstream kept(memory);
  std::string kept_key, version;
  if (std::getline(kept, kept_key) && kept_key == key && std::getline(kept, version)) {
    return version;
  }
  sandbox::Command command;
  command.argv = {compiler, "--version"};
  const sandbox::Result result = run(command, sandbox::Isolation::kNone);
  if (result.ending != sandbox::Ending::kExited || result.code != 0) {
    throw errors::no_compiler(compiler);
  }
  version = result.output.substr(0, result.output.find('\n'));
  // Where it cannot be kept it is asked again the next time.
  std::error_code ignored;
  fs::create_directories(cache, ignored);
  std::ofstream(memory) << key << "\n" << version << "\n";
  return version;
}

// "2.11.0" from LibTorch's own headers; empty where they have none.
std::string version_in(const std::string& torch) {
  for (const char* header :
       {"/include/torch/headeronly/version.h", "/include/torch/csrc/api/include/torch/version.h"}) {
    std::string version;
    const std::string text = read_file(torch + header);
    for (const char* part : {"MAJOR", "MINOR", "PATCH"}) {
      const std::string define = std::string("#define TORCH_VERSION_") + part + " ";
      const std::size_t at = text.find(define);
      if (at == std::string::npos) break;
      if (!version.empty()) version += '.';
      version += std::to_string(std::atoi(text.c_str() + at + define.size()));
    }
    if (!version.empty()) return version;
  }
  return {};
}

void check_libtorch(const Toolchain& toolchain) {
  for (const char* part : {"/include/torch/csrc/api/include/torch/types.h", "/lib/libtorch_cpu.so",
                           "/lib/libc10.so"}) {
    if (access((toolchain.torch + part).c_str(), R_OK) != 0) {
      throw errors::no_libtorch(toolchain.torch, part + 1);
    }
  }
  const std::string library = toolchain.torch + "/lib/libtorch_cpu.so";
  std::string start(4, '\0');
  std::ifstream(library, std::ios::binary).read(start.data(), 4);
  if (start !=
      "\x7f"
      "ELF")
    throw errors::damaged_libtorch(library);
  const std::string version = version_in(toolchain.torch);
  // A local version may carry a suffix, as in 2.11.0+cu130.
  if (!version.empty() && !toolchain.torch_version.starts_with(version)) {
    throw errors::other_libtorch(toolchain.torch, version, toolchain.torch_version);
  }
}

}  // namespace

Toolchain read_toolchain(const std::string& root) {
  const std::string file = root + "/.gradlab/toolchain";
  auto keys = read_keys(file);
  for (const char* key : {"TORCH", "TORCH_VERSION", "COMPILER"}) {
    if (keys[key].empty()) throw errors::toolchain_lacks(file, key);
  }
  Toolchain toolchain;
  toolchain.root = root;
  toolchain.torch = keys["TORCH"];
  toolchain.torch_version = keys["TORCH_VERSION"];
  toolchain.cuda_libs = keys["CUDA_LIBS"];
  toolchain.compiler = keys["COMPILER"];
  toolchain.tables = root + "/build/release/tables";
  toolchain.libraries = root + "/build/release/libraries";
  toolchain.cache = root + "/.gradlab/cache/pch";
  if (access(toolchain.compiler.c_str(), X_OK) != 0) throw errors::no_compiler(toolchain.compiler);
  check_libtorch(toolchain);
  toolchain.compiler_version = version_of(toolchain.compiler, toolchain.cache);
  toolchain.clang = toolchain.compiler_version.find("clang") != std::string::npos;
  return toolchain;
}

}  // namespace gradlab::compile
