// ./gradlab run: a training run with the student's own loop, written down for `explain` and `log`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <random>

#include "cli/app.hpp"
#include "cli/files.hpp"
#include "cli/grader.hpp"
#include "cli/messages.hpp"
#include "cli/run_messages.hpp"
#include "cli/work_time.hpp"
#include "pipeline/work_folder.hpp"
#include "render/terminal.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;

struct RunOptions {
  std::string lab = "step_order";
  std::string file, out, seed;
};

std::string drawn_seed() { return std::to_string(std::random_device()() % 1000000); }

// Where no path was asked for, a log that is there already is put aside, never written over.
fs::path write_log(const RunOptions& options, const Workspace& workspace, const std::string& slug,
                   const std::string& text) {
  const fs::path path = options.out.empty() ? workspace.work_file(slug).replace_extension(".jsonl")
                                            : fs::path(options.out);
  if (write_new_file(path, text)) return path;
  if (!options.out.empty()) throw messages::log_is_there(path.string());
  try {
    note(messages::log_put_aside(workspace.shown(move_to_backup(path))));
  } catch (const fs::filesystem_error& error) {
    throw messages::not_written(workspace.shown(path), error.code().message());
  }
  write_new_file(path, text);
  return path;
}

void run(const RunOptions& options, Session& session) {
  const auto& workspace = session.workspace;
  const Manifest lab = workspace.find_lab(options.lab);
  const std::string file =
      options.file.empty() ? workspace.work_file(lab.slug).string() : options.file;
  if (options.file.empty() && !fs::exists(file)) throw messages::not_started(lab.slug);
  const std::string seed = options.seed.empty() ? drawn_seed() : options.seed;
  note_work(workspace, lab.slug);
  const pipeline::WorkFolder copies;
  const auto hand_in =
      named_by_user([&] { return intake::read_file(file, lab, "you", copies.path()); });
  const auto setup = prepare_grader(session, lab, /*own_file=*/true);
  pipeline::Worker worker(lab, setup);
  const auto trained = worker.train(hand_in, seed);
  if (!trained.offered) throw messages::no_run_of_lab(lab.slug);
  if (!trained.problem.empty()) {
    auto why = render::printable(trained.problem);
    while (why.ends_with('.')) why.pop_back();
    print(messages::no_run(lab.slug, why));
    session.exit_status = kCheckFailed;
    return;
  }
  std::string text;
  for (const auto& line : trained.lines) text += line + "\n";
  const auto shown = workspace.shown(write_log(options, workspace, lab.slug, text));
  print(messages::run_is_written(shown, trained.lines.size() - 2, seed));
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"run", kForStudents, "Train with your own loop on data that overflows; writes a log",
            "./gradlab run step_order\n  ./gradlab explain work/step_order.jsonl"});
  auto options = std::make_shared<RunOptions>();
  verb.add_option("LAB", options->lab, "a lab with a training run: step_order")->type_name("");
  verb.add_option("--seed", options->seed, "the same data again")->type_name("S");
  verb.add_option("--file", options->file, "run this file instead of work/<lab>.cpp")
      ->type_name("FILE");
  verb.add_option("--out", options->out, "write the log there instead of work/<lab>.jsonl")
      ->type_name("FILE");
  verb.callback([&session, options] { run(*options, session); });
}

}  // namespace gradlab::cli
