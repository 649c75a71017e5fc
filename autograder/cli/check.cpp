#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "cli/app.hpp"
#include "cli/grader.hpp"
#include "pipeline/work_folder.hpp"
#include "record/store.hpp"
#include "render/check_text.hpp"

namespace gradlab::cli {
namespace {

// The line of the student's file where a task's todo() stands, for "start with …"; 0 when it is
// gone.
int line_of_task(const std::string& file, const std::string& label) {
  std::ifstream in(file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find("todo(\"" + label + "\"") != std::string::npos) return number;
  }
  return 0;
}

struct CheckOptions {
  std::string lab;
  std::string file;
  std::string seed = kPublicSeed;
  std::string isolation;
  int task = 0;
  bool json = false;
};

void run_check(const CheckOptions& options, Session& session) {
  const Manifest lab = session.workspace.lab_or_last_changed(options.lab);
  if (options.task != 0 && lab.task(options.task) == nullptr) {
    throw UsageError(fmt::format("{} has no task {}: it has 1 to {}", lab.slug, options.task,
                                 lab.tasks.back().id));
  }
  const std::string file =
      options.file.empty() ? session.workspace.work_file(lab.slug).string() : options.file;
  const pipeline::WorkFolder copies;
  const auto hand_in =
      named_by_user([&] { return intake::read_file(file, lab, "you", copies.path()); });
  const auto setup = prepare_grader(session, lab, /*own_file=*/true, options.isolation);

  pipeline::Job job;
  job.hand_in = hand_in;
  job.start = {"you",
               options.seed,
               sandbox::to_string(setup.isolation),
               options.seed == kPublicSeed,
               1,
               options.task == 0 ? std::nullopt : std::optional(options.task),
               options.file};
  job.overlap = true;
  render::CheckOptions view;
  view.colour = session.options.colour;
  view.width = session.options.width;
  view.file = session.workspace.shown(file);
  // The verdict first: a student reads it while the judge still looks for the misconception. Nobody
  // waits before a file or a pipe: there the misconception stands with its check.
  bool shown = false;
  if (!options.json && session.options.terminal) {
    job.on_verdicts = [&](const Record& record) {
      shown = true;
      auto first = view;
      first.tips = false;
      print(render::render_check(record, first));
    };
  }
  pipeline::Worker worker(lab, setup);
  const Record record = worker.grade(job);
  view.line = line_of_task(file, fmt::format("{}.{}", lab.slug, render::next_task(record)));
  if (options.json) {
    print(record::to_text(record));
  } else if (!shown) {
    print(render::render_check(record, view));
  } else {
    print(render::render_diagnoses(record, view));
  }
  if (options.file.empty()) {
    const auto last = session.workspace.last_record(lab.slug);
    std::filesystem::create_directories(last.parent_path());
    record::write_record(last, record);
  }
  if (record.verdict == record::Verdict::kGraderError) {
    session.exit_status = kGraderFault;
  } else if (record.verdict != record::Verdict::kPass) {
    session.exit_status = kCheckFailed;
  }
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto options = std::make_shared<CheckOptions>();
  auto* verb =
      app.add_subcommand("check", "Say whether your answer is right, and what it is if not");
  verb->group(kForStudents);
  verb->footer(
      "Example:\n"
      "  ./gradlab check clipping --task 2\n"
      "Without arguments: the lab whose file changed last.");
  verb->add_option("LAB", options->lab, "the lab; its first letters are enough");
  verb->add_option("--task", options->task, "only this task");
  verb->add_option("--seed", options->seed, "draw other cases (the default is fixed)");
  verb->add_option("--file", options->file, "check this file instead of work/<lab>.cpp");
  verb->add_option("--isolation", options->isolation,
                   "full, container or none; otherwise full where it works, else none");
  verb->add_flag("--json", options->json, "print the record instead of the text");
  verb->callback([options, &session] { run_check(*options, session); });
}

}  // namespace gradlab::cli
