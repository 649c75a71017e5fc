#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "cli/grader.hpp"
#include "pipeline/work_folder.hpp"
#include "record/store.hpp"
#include "render/terminal.hpp"
#include "render/words.hpp"

namespace gradlab::cli {
namespace {

struct ReplayOptions {
  std::string record;
  std::string file;
};

// What the record holds of one failed check, as it was found then.
void show_recorded(const Record& record, const record::Task& task, const record::Check& check) {
  const auto& failing = *check.failing;
  print(fmt::format("{}.{}  {}\n  {}\n  at {}: {}\n", record.lab, task.id, check.title,
                    render::case_text(failing), failing.place,
                    render::printable(render::expected_and_got(failing))));
  if (const auto far = render::how_far(failing); !far.empty()) print("  " + far + "\n");
}

void show_now(pipeline::Worker& worker, const intake::HandIn& hand_in, const std::string& file,
              const record::Check& check) {
  if (!check.failing->input.contains("input")) {
    print("  the case is too large to be kept in a record; grade again with its seed\n");
    return;
  }
  const auto now = worker.replay(hand_in, *check.failing);
  const std::string what = !now.problem.empty() ? now.problem
                           : now.passes         ? "right: " + now.got
                           : now.same           ? "the same"
                                                : "got " + now.got;
  print(fmt::format("  now, with {}: {}\n", file, render::printable(what)));
}

void run_replay(const ReplayOptions& options, Session& session) {
  const Record record = named_by_user([&] { return record::read_record(options.record); });
  const Manifest lab = session.workspace.find_lab(record.lab);
  const std::string student = render::printable(record.student);
  if (record.score) {
    print(fmt::format("{}: {} of {}, seed {}, isolation {}\n", student, *record.score,
                      record.max_score, record.seed, record.isolation));
  } else {
    print(fmt::format("{}: no score, {}\n", student, render::printable(record.message)));
  }
  std::optional<pipeline::Setup> setup;
  std::optional<pipeline::Worker> worker;
  const pipeline::WorkFolder copies;
  intake::HandIn hand_in;
  if (!options.file.empty()) {
    hand_in = named_by_user(
        [&] { return intake::read_file(options.file, lab, record.student, copies.path()); });
    if (!record.files.empty() && !hand_in.files.empty() &&
        record.files.front().sha256 != hand_in.files.front().sha256) {
      note(options.file + " is not the file that was graded: its hash differs");
    }
    setup = prepare_grader(session, lab, /*own_file=*/false);
    worker.emplace(lab, *setup);
  }
  bool any = false;
  for (const auto& task : record.tasks) {
    for (const auto& check : task.checks) {
      if (!check.failing) continue;
      any = true;
      show_recorded(record, task, check);
      if (worker) show_now(*worker, hand_in, options.file, check);
    }
  }
  if (!any) print("no check failed by a comparison, so there is no case to replay\n");
}

}  // namespace

void add_replay(CLI::App& app, Session& session) {
  auto options = std::make_shared<ReplayOptions>();
  auto* verb = app.add_subcommand("replay", "Show a record's failing cases, and run them again");
  verb->group(kForInstructors);
  verb->footer(
      "Example:\n"
      "  ./gradlab replay results/records/bruno.json --file submissions/bruno/clipping.cpp\n"
      "A record holds each failing case, so this needs neither the reference nor the batch.");
  verb->add_option("RECORD", options->record, "a record that grade wrote")->required();
  verb->add_option("--file", options->file, "run the recorded cases with this file");
  verb->callback([options, &session] { run_replay(*options, session); });
}

}  // namespace gradlab::cli
