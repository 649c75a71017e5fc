#include "compile/functions.hpp"

#include <unistd.h>

#include <set>

#include "compile/files.hpp"
#include "compile/precompiled.hpp"

namespace gradlab::compile {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kTorchLibraries = "/opt/libtorch/lib";
constexpr const char* kOwnLibraries = "/opt/gradlab/shared";

struct Step {
  const Place& place;
  std::string out;
  sandbox::Limits limits;

  sandbox::Command command() const {
    sandbox::Command command = box(place);
    command.mounts.push_back({out, kOut, true});
    command.mounts.push_back({place.toolchain.torch + "/lib", kTorchLibraries});
    if (!place.lab.libraries.empty()) {
      command.mounts.push_back({place.toolchain.libraries, kOwnLibraries});
    }
    command.limits = limits;
    return command;
  }
  std::string inside(const sandbox::Command& command, const std::string& path) const {
    return path_inside(command, place.isolation, path);
  }
};

bool succeeded(const sandbox::Result& result) {
  return result.ending == sandbox::Ending::kExited && result.code == 0;
}

bool compile_object(const Step& step, const std::string& header) {
  sandbox::Command command = step.command();
  command.argv = compiler(step.place, command);
  const auto out = [&](const std::string& name) {
    return step.inside(command, std::string(kOut) + "/" + name);
  };
  command.argv.insert(command.argv.end(),
                      {kShareFunctions, "-c", "-x", "pcm", out(header), "-o", out("functions.o")});
  return succeeded(run(command, step.place.isolation));
}

// Symbols that stay undefined are LibTorch's hidden ones, of functions that nobody can call; they
// become 0.
sandbox::Result link(const Step& step, const std::set<std::string>& undefined) {
  sandbox::Command command = step.command();
  const auto inside = [&](const std::string& path) { return step.inside(command, path); };
  Words inputs{inside(std::string(kOut) + "/functions.o"),
               "-Bsymbolic",
               "--no-demangle",
               "-z",
               "defs",
               "--allow-shlib-undefined"};
  for (const std::string& symbol : undefined) inputs.push_back("--defsym=" + symbol + "=0");
  for (const char* name : {"libtorch_cpu.so", "libc10.so"}) {
    inputs.push_back(inside(std::string(kTorchLibraries) + "/" + name));
  }
  for (const std::string& name : step.place.lab.libraries) {
    inputs.push_back(inside(std::string(kOwnLibraries) + "/libgradlab_" + name + ".so"));
  }
  for (const std::string& word : link_line(step.place.header)) {
    if (word == kInputs) {
      command.argv.insert(command.argv.end(), inputs.begin(), inputs.end());
    } else {
      command.argv.push_back(word == kOutput ? inside(std::string(kOut) + "/" + kFunctions) : word);
    }
  }
  return run(command, step.place.isolation);
}

// From "undefined symbol: _Zx" (mold, lld) and "undefined reference to `_Zx'" (GNU ld).
std::set<std::string> undefined_in(const std::string& log) {
  std::set<std::string> symbols;
  for (const std::string before : {"undefined symbol: ", "undefined reference to `"}) {
    for (std::size_t at = 0; (at = log.find(before, at)) != std::string::npos;) {
      at += before.size();
      symbols.insert(log.substr(at, log.find_first_of("' \n", at) - at));
    }
  }
  return symbols;
}

}  // namespace

bool shares_functions(const Toolchain& toolchain, const manifest::Manifest& lab) {
  return toolchain.clang && !lab.optimised;
}

bool build_functions(const Place& place, const std::string& out, const sandbox::Limits& limits) {
  const Step step{place, out, limits};
  if (!compile_object(step, kHeaderFile)) return false;
  sandbox::Result linked = link(step, {});
  if (!succeeded(linked)) linked = link(step, undefined_in(linked.output));
  remove_all(out + "/functions.o");
  return succeeded(linked);
}

}  // namespace gradlab::compile
