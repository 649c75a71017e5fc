#include "cli/debug_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "cli/build.hpp"
#include "cli/process.hpp"
#include "record/store.hpp"

namespace gradlab::cli::debug {
namespace fs = std::filesystem;
namespace {

// Where a program lies, or "".
std::string path_of(const std::string& program) {
  const char* path = getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / program;
    if (access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return "";
}

// The student's file at -O0 with ASan, and the lab's experiments, as one program in one process.
std::vector<std::string> compile_line(const Session& session, const Manifest& lab,
                                      const std::string& file, const compile::Toolchain& toolchain,
                                      const fs::path& program) {
  const auto build = session.workspace.build_dir();
  const auto root = session.workspace.root();
  std::vector<std::string> line = {toolchain.compiler,
                                   "-std=c++20",
                                   "-O0",
                                   "-g",
                                   "-fsanitize=address",
                                   "-fno-omit-frame-pointer",
                                   "-isystem",
                                   toolchain.torch + "/include",
                                   "-isystem",
                                   toolchain.torch + "/include/torch/csrc/api/include",
                                   "-I" + (root / "labs/common").string(),
                                   "-I" + lab.directory.string()};
  for (const auto& library : lab.libraries) {
    line.push_back("-I" + (root / "reference" / library / "include").string());
    line.push_back((build / "libraries" / ("libgradlab_" + library + ".so")).string());
    line.push_back("-Wl,-rpath," + (build / "libraries").string());
  }
  line.insert(line.end(),
              {file, (build / "tables" / (lab.slug + ".o")).string(),
               (build / "lib" / ("libdebug_" + lab.slug + ".so")).string(),
               "-Wl,-rpath," + (build / "lib").string(), toolchain.torch + "/lib/libtorch_cpu.so",
               toolchain.torch + "/lib/libc10.so", "-Wl,-rpath," + toolchain.torch + "/lib",
               "-Wl,--allow-shlib-undefined"});
  if (toolchain.clang) line.push_back("-fclang-abi-compat=17");  // as autograder/compile does
  if (!toolchain.cuda_libs.empty()) line.push_back("-Wl,-rpath," + toolchain.cuda_libs);
  line.insert(line.end(), {"-o", program.string()});
  return line;
}

// Leaks are not this program's business (LibTorch keeps caches).
constexpr char kOptions[] = "detect_leaks=0:print_legend=0";
// In a debugger a bad access is to stop where it happens, not to end the program.
constexpr char kStopping[] = "detect_leaks=0:print_legend=0:abort_on_error=1";

// Makes file and line of the sanitizer's addresses; "" where there is none.
std::string symbolizer() {
  for (const char* name : {"llvm-symbolizer-19", "llvm-symbolizer", "addr2line"}) {
    if (auto path = path_of(name); !path.empty()) return path;
  }
  return "";
}

void tell_sanitizer(const char* options) {
  setenv("ASAN_OPTIONS", options, 1);
  if (const auto path = symbolizer(); !path.empty())
    setenv("ASAN_SYMBOLIZER_PATH", path.c_str(), 1);
}

}  // namespace

Program build(const Session& session, const Manifest& lab, const std::string& file,
              const compile::Toolchain& toolchain) {
  const auto& workspace = session.workspace;
  ensure_target(workspace, "debug_" + lab.slug, "what debug needs");
  const fs::path folder = workspace.state_dir() / "debug";
  fs::create_directories(folder);
  Program program{folder / lab.slug, folder / (lab.slug + ".json")};
  note("compiling with -O0 -g and AddressSanitizer (about 15 s)");
  const auto compiled = run_captured(compile_line(session, lab, file, toolchain, program.path),
                                     workspace.root().string());
  if (compiled.status != 0) throw UsageError("it does not compile:\n" + compiled.output);
  return program;
}

void write_launch_json(const Session& session, const Program& program) {
  nlohmann::json environment = {{{"name", "ASAN_OPTIONS"}, {"value", kStopping}}};
  if (const auto path = symbolizer(); !path.empty()) {
    environment.push_back({{"name", "ASAN_SYMBOLIZER_PATH"}, {"value", path}});
  }
  const nlohmann::json launch = {{"version", "0.2.0"},
                                 {"configurations",
                                  {{{"name", "gradlab debug"},
                                    {"type", "cppdbg"},
                                    {"request", "launch"},
                                    {"program", program.path.string()},
                                    {"args", {program.input.string()}},
                                    {"cwd", session.workspace.root().string()},
                                    {"environment", environment},
                                    {"MIMode", "gdb"}}}}};
  record::write_file(session.workspace.root() / "launch.json", launch.dump(2) + "\n");
}

bool run_in_gdb(Session& session, const Program& program, const std::string& file) {
  const std::string gdb = path_of("gdb");
  if (gdb.empty() || !session.options.terminal || isatty(STDIN_FILENO) == 0) return false;
  tell_sanitizer(kStopping);
  note(
      "gdb stops at each of your functions: continue goes on, where shows the way there, quit "
      "ends");
  session.exit_status =
      run_through({gdb, "-q", "-iex", "set debuginfod enabled off", "-ex", "set pagination off",
                   "-ex", fmt::format("rbreak {}:^[^_]", fs::path(file).filename().string()), "-ex",
                   "run", "--args", program.path.string(), program.input.string()},
                  session.workspace.root().string());
  return true;
}

void run_alone(const Session& session, const Program& program) {
  constexpr int kTimedOut = 124;
  tell_sanitizer(kOptions);
  const int status = run_through({"timeout", "30", program.path.string(), program.input.string()},
                                 session.workspace.root().string());
  if (status == kTimedOut) print("it did not end within 30 s, and was stopped\n");
  print(fmt::format("in a debugger: ASAN_OPTIONS={} gdb --args {} {}\n", kStopping,
                    session.workspace.shown(program.path), session.workspace.shown(program.input)));
}

}  // namespace gradlab::cli::debug
