// ./gradlab explain: asks about each skip of a log, and checks the answers against the log.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "cli/app.hpp"
#include "cli/explained.hpp"
#include "cli/files.hpp"
#include "cli/run_messages.hpp"
#include "cli/talk.hpp"
#include "drills/skips.hpp"
#include "record/sha256.hpp"
#include "training_log/reading.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;

struct ExplainOptions {
  std::string file;
  bool again = false, plain = false;
};

std::vector<training_log::Step> steps_of(const std::string& file) {
  std::vector<training_log::Step> steps;
  training_log::ReadOptions reading;
  reading.analyse = false;
  reading.on_step = [&](const training_log::Step& step) { steps.push_back(step); };
  training_log::read_log(file, reading);
  return steps;
}

std::vector<drills::SkipRow> skips_of(const std::string& file, const std::string& shown) {
  try {
    const auto steps = steps_of(file);
    if (steps.empty()) throw messages::log_without_steps(shown);
    auto rows = drills::rows_of_skips(steps);
    if (rows.empty()) throw messages::log_without_skips(shown, steps.size());
    return rows;
  } catch (const training_log::LogError& error) {
    throw UsageError(error.what());
  }
}

// Asks; a row whose questions were all answered right is explained.
void ask_about(const std::vector<drills::SkipRow>& rows, ExplainedLog& log,
               const drills::Talk& talk, const std::function<void()>& keep_it) {
  drills::Round round;
  std::map<std::string, std::pair<std::int64_t, size_t>> open;  // questions not yet right, by name
  for (const auto& row : rows) {
    if (log.explained.contains(row.first)) continue;
    auto questions = drills::questions_of(row, static_cast<std::uint64_t>(row.first));
    open[questions.front().name] = {row.first, questions.size()};
    for (auto& question : questions) round.questions.push_back(std::move(question));
  }
  drills::ask(round, talk, [&](const drills::Question& question, int grade, const std::string&) {
    auto& [first, left] = open[question.name];
    if (grade < drills::kWithHint || --left > 0) return;
    log.explained.insert(first);
    keep_it();
  });
}

void explain(const ExplainOptions& options, const Session& session) {
  const auto& workspace = session.workspace;
  const std::string file =
      options.file.empty() ? workspace.work_file("step_order").replace_extension(".jsonl").string()
                           : options.file;
  if (options.file.empty() && !fs::exists(file)) throw messages::no_log_yet(workspace.shown(file));
  const auto shown = workspace.shown(file);
  const auto rows = skips_of(file, shown);
  auto logs = explained_logs(workspace);
  auto& log = logs[record::sha256(read_whole(file))];
  log.file = shown;
  log.skips.clear();
  for (const auto& row : rows) log.skips.insert(row.first);
  if (options.again) log.explained.clear();
  if (log.whole()) {
    print(messages::all_explained(shown, log.skips.size()));
    return;
  }
  print(messages::explain_begins(shown, log.skips.size() - log.explained.size()));
  ask_about(rows, log, talk_with(session, options.plain), [&] { keep(workspace, logs); });
  keep(workspace, logs);
  print(log.whole()
            ? "\n" + messages::all_explained(shown, log.skips.size())
            : "\n" + messages::some_explained(shown, log.explained.size(), log.skips.size()));
}

}  // namespace

void add_explain(CLI::App& app, Session& session) {
  auto& verb = add_verb(app, {"explain", kForStudents, "Explain each skip of your own training log",
                              "./gradlab explain\n  ./gradlab explain runs/mine.jsonl"});
  auto options = std::make_shared<ExplainOptions>();
  verb.add_option("FILE", options->file,
                  "a training log, as handouts/log_format.md has it or as `log` can read it; else "
                  "work/step_order.jsonl")
      ->type_name("");
  verb.add_flag("--again", options->again, "ask for what was explained already, too");
  verb.add_flag("--plain", options->plain, "no colours");
  verb.callback([&session, options] { explain(*options, session); });
}

}  // namespace gradlab::cli
