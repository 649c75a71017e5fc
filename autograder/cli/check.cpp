#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/own_check.hpp"

namespace gradlab::cli {
namespace {

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
  OwnCheck::look(lab, file);  // before anything is built
  OwnCheck check(session, lab, options.isolation);
  OwnCheck::Order order{file, options.seed, std::nullopt, options.file};
  if (options.task != 0) order.task = options.task;
  // The verdict first: a student reads it while the judge still looks for the misconception. Nobody
  // waits before a file or a pipe: there the misconception stands with its check.
  bool shown = false;
  OwnCheck::OnVerdicts on_verdicts;
  if (!options.json && session.options.terminal) {
    on_verdicts = [&](const Record& record) {
      shown = true;
      auto first = check.view(file);
      first.tips = false;
      print(render::render_check(record, first));
    };
  }
  const Record record = check.run(order, on_verdicts);
  if (options.json) {
    print(record::to_text(record));
  } else if (!shown) {
    print(render::render_check(record, check.view(file, record)));
  } else {
    print(render::render_diagnoses(record, check.view(file, record)));
  }
  if (options.file.empty()) check.keep(record);
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
