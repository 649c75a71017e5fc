// ./gradlab debug: picks a failing case of the user's own file, and has it run alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "cli/debug_program.hpp"
#include "cli/grader.hpp"
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

Verdict verdict_of(const Record& record, const std::string& label) {
  const int id = std::atoi(label.substr(label.find('.') + 1).c_str());
  for (const auto& task : record.tasks) {
    if (task.id == id) return task.verdict;
  }
  return record.verdict;
}

Record grade_own(const Manifest& lab, const std::string& file, const DebugOptions& options,
                 const pipeline::Setup& setup) {
  const pipeline::WorkFolder copies;
  pipeline::Job job;
  job.hand_in = named_by_user([&] { return intake::read_file(file, lab, "you", copies.path()); });
  job.start = {
      "you", options.seed, sandbox::to_string(setup.isolation), options.seed == kPublicSeed,
      1,     std::nullopt};
  job.overlap = true;
  pipeline::Worker worker(lab, setup);
  return worker.grade(job);
}

// Why there is no case to run, in words that help.
UsageError nothing_to_debug(const Record& record, const DebugOptions& options,
                            const record::Check* check) {
  if (!record.message.empty()) {
    return UsageError(fmt::format("{}: ./gradlab check {} shows it", record.message, record.lab));
  }
  if (check == nullptr && !options.check.empty()) {
    return UsageError(fmt::format("{} has no check '{}'", options.task, options.check));
  }
  if (check != nullptr && check->failing) {
    return UsageError(fmt::format("the failing case of '{}' is too large to be kept: {}",
                                  check->title, render::case_text(*check->failing)));
  }
  if (check != nullptr) {
    return UsageError(fmt::format("'{}' has no failing case: {}", check->title,
                                  render::in_words(check->verdict)));
  }
  return UsageError(fmt::format("{} has no failing case: it is {}", options.task,
                                render::in_words(verdict_of(record, options.task))));
}

void write_case(const fs::path& path, const record::Failing& failing) {
  const nlohmann::json text = {
      {"case", failing.input}, {"expected", failing.expected}, {"place", failing.place}};
  record::write_file(path, text.dump(2) + "\n");
}

void run_debug(const DebugOptions& options, Session& session) {
  const auto [lab, task] = session.workspace.find_task(options.task);
  const std::string file = options.file.empty() ? session.workspace.work_file(lab.slug).string()
                                                : fs::absolute(options.file).string();
  const auto setup = prepare_grader(session, lab, /*own_file=*/true);
  const Record record = grade_own(lab, file, options, setup);
  const auto* check = wanted_check(record, task, options.check);
  if (check == nullptr || !check->failing || !check->failing->input.contains("input")) {
    throw nothing_to_debug(record, options, check);
  }
  const debug::Program program = debug::build(session, lab, file, setup.toolchain);
  write_case(program.input, *check->failing);
  print(fmt::format("{}.{}  {}\n  {}\n  at {}: {}\n", lab.slug, task, check->title,
                    render::case_text(*check->failing), check->failing->place,
                    render::expected_and_got(*check->failing)));
  if (options.launch_json) {
    debug::write_launch_json(session, program);
    print("launch.json written: copy it to your editor's folder (.vscode/ for VS Code)\n");
  }
  if (options.no_gdb || !debug::run_in_gdb(session, program, file)) {
    debug::run_alone(session, program);
  }
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
