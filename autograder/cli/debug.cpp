#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/app.hpp"
#include "cli/build.hpp"
#include "cli/grader.hpp"
#include "cli/process.hpp"
#include "pipeline/work_folder.hpp"
#include "record/store.hpp"
#include "render/words.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

struct DebugOptions {
  std::string task;
  std::string seed = kPublicSeed;
  std::string check;
  std::string file;
  bool launch_json = false;
  bool no_gdb = false;
};

// The failing check that is asked for: by name, or the first of the task.
const record::Check* wanted_check(const Record& record, int task, const std::string& name) {
  for (const auto& of : record.tasks) {
    if (of.id != task) continue;
    for (const auto& check : of.checks) {
      if (!name.empty() ? check.name == name : check.failing.has_value()) return &check;
    }
  }
  return nullptr;
}

Record grade_own(const Manifest& lab, const std::string& file, const DebugOptions& options,
                 const pipeline::Setup& setup) {
  const pipeline::WorkFolder copies;
  pipeline::Job job;
  job.hand_in = intake::read_file(file, lab, "you", copies.path());
  job.start = {"you", options.seed, sandbox::to_string(setup.isolation),
               options.seed == kPublicSeed, 1, std::nullopt};
  job.overlap = true;
  pipeline::Worker worker(lab, setup);
  return worker.grade(job);
}

// The student's file at -O0 with ASan, and the lab's experiments, as one program in one process.
std::vector<std::string> compile_line(const Session& session, const Manifest& lab,
                                      const std::string& file, const compile::Toolchain& toolchain,
                                      const fs::path& program) {
  const auto build = session.workspace.build_dir();
  const auto root = session.workspace.root();
  std::vector<std::string> line = {
      toolchain.compiler, "-std=c++20", "-O0", "-g", "-fsanitize=address",
      "-fno-omit-frame-pointer", "-isystem", toolchain.torch + "/include", "-isystem",
      toolchain.torch + "/include/torch/csrc/api/include",
      "-I" + (root / "labs/common").string(), "-I" + lab.directory.string(), file,
      (build / "tables" / (lab.slug + ".o")).string(),
      (build / "lib" / ("libdebug_" + lab.slug + ".so")).string(),
      "-Wl,-rpath," + (build / "lib").string(),
      toolchain.torch + "/lib/libtorch_cpu.so", toolchain.torch + "/lib/libc10.so",
      "-Wl,-rpath," + toolchain.torch + "/lib", "-Wl,--allow-shlib-undefined"};
  if (toolchain.clang) line.push_back("-fclang-abi-compat=17");  // as autograder/compile does
  if (!toolchain.cuda_libs.empty()) line.push_back("-Wl,-rpath," + toolchain.cuda_libs);
  line.insert(line.end(), {"-o", program.string()});
  return line;
}

void write_launch_json(const Session& session, const fs::path& program, const fs::path& input) {
  const nlohmann::json launch = {
      {"version", "0.2.0"},
      {"configurations",
       {{{"name", "gradlab debug"},
         {"type", "cppdbg"},
         {"request", "launch"},
         {"program", program.string()},
         {"args", {input.string()}},
         {"cwd", session.workspace.root().string()},
         {"environment", {{{"name", "ASAN_OPTIONS"}, {"value", "detect_leaks=0"}}}},
         {"MIMode", "gdb"}}}}};
  const auto path = session.workspace.root() / "launch.json";
  record::write_file(path, launch.dump(2) + "\n");
  print("launch.json written: copy it to your editor's folder (.vscode/ for VS Code)\n");
}

void run_debug(const DebugOptions& options, Session& session) {
  const auto [lab, task] = session.workspace.find_task(options.task);
  const std::string file =
      options.file.empty() ? session.workspace.work_file(lab.slug).string() : options.file;
  const auto setup = prepare_grader(session, lab, /*own_file=*/true);
  const Record record = grade_own(lab, file, options, setup);
  const auto* check = wanted_check(record, task, options.check);
  if (check == nullptr) {
    if (!record.message.empty()) throw UsageError(record.message + ": ./gradlab check shows it");
    throw UsageError(options.check.empty()
                         ? fmt::format("no comparison of {} fails, so there is no case to debug",
                                       options.task)
                         : fmt::format("{} has no check '{}'", options.task, options.check));
  }
  if (!check->failing || !check->failing->input.contains("input")) {
    throw UsageError(fmt::format("'{}' has no failing case small enough to keep: {}", check->title,
                                 check->message.empty() ? "it passes" : check->message));
  }
  ensure_target(session.workspace, "debug_" + lab.slug, "what debug needs");
  const fs::path folder = session.workspace.state_dir() / "debug";
  fs::create_directories(folder);
  const fs::path input = folder / (lab.slug + ".json");
  const fs::path program = folder / lab.slug;
  const nlohmann::json failing = {{"case", check->failing->input},
                                  {"expected", check->failing->expected},
                                  {"place", check->failing->place}};
  record::write_file(input, failing.dump(2) + "\n");
  note("compiling with -O0 -g and AddressSanitizer (about 15 s)");
  const auto compiled = run_captured(compile_line(session, lab, file, setup.toolchain, program),
                                     session.workspace.root().string());
  if (compiled.status != 0) throw UsageError("it does not compile:\n" + compiled.output);
  print(fmt::format("{}.{}  {}\n  {}\n  at {}: {}\n", lab.slug, task, check->title,
                    render::case_text(*check->failing), check->failing->place,
                    render::expected_and_got(*check->failing)));
  if (options.launch_json) write_launch_json(session, program, input);
  const std::vector<std::string> gdb = {"gdb", "-q", "-ex", "set breakpoint pending on", "-ex",
                                        fmt::format("rbreak {}:.", fs::path(file).filename().string()),
                                        "-ex", "run", "--args", program.string(), input.string()};
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  if (session.options.terminal && isatty(STDIN_FILENO) != 0 && !options.no_gdb &&
      run_captured({"sh", "-c", "command -v gdb"}, "/").status == 0) {
    session.exit_status = run_through(gdb, session.workspace.root().string());
    return;
  }
  run_through({program.string(), input.string()}, session.workspace.root().string());
  print(fmt::format("in a debugger: ASAN_OPTIONS=detect_leaks=0 gdb --args {} {}\n",
                    session.workspace.shown(program), session.workspace.shown(input)));
}

}  // namespace

void add_debug(CLI::App& app, Session& session) {
  auto options = std::make_shared<DebugOptions>();
  auto* verb = app.add_subcommand("debug", "Run the first failing case alone, in a debugger");
  verb->group(kForStudents);
  verb->footer(
      "Example:\n"
      "  ./gradlab debug clipping.2\n"
      "One process, no sandbox, -O0 -g with AddressSanitizer: breakpoints and stacks just work.");
  verb->add_option("LAB.TASK", options->task, "a task, such as clipping.2")->required();
  verb->add_option("--seed", options->seed, "the seed of the cases, as check's");
  verb->add_option("--check", options->check, "this check's failing case");
  verb->add_option("--file", options->file, "this file instead of work/<lab>.cpp");
  verb->add_flag("--launch-json", options->launch_json, "write launch.json for an editor");
  verb->add_flag("--no-gdb", options->no_gdb, "only run it and print the line to attach");
  verb->callback([options, &session] { run_debug(*options, session); });
}

}  // namespace gradlab::cli
