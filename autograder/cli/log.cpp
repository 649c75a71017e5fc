// ./gradlab log: reads a training log of many formats, tells its story and what it points to.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/app.hpp"
#include "cli/log_follow.hpp"
#include "cli/messages.hpp"
#include "record/store.hpp"
#include "render/report.hpp"
#include "training_log/output/convert.hpp"
#include "training_log/output/page.hpp"
#include "training_log/output/text.hpp"
#include "training_log/reading.hpp"

namespace gradlab::cli {
namespace {

using training_log::Report;
using training_log::Severity;

struct LogOptions {
  std::string file, html, earlier, fail_on = "critical", target = "jsonl";
  double max_norm = 0;
  bool json = false;
};

Report read(const std::string& path, const LogOptions& options) {
  training_log::ReadOptions how;
  if (options.max_norm > 0) how.max_norm = options.max_norm;
  try {
    return training_log::read_log(path, how);
  } catch (const training_log::LogError& error) {
    throw UsageError(error.what());
  }
}

// A log in which nothing was understood is a wrong file, whatever was asked of it.
int status_of(const Report& report) { return report.runs.empty() ? kUsage : kDone; }

training_log::TextStyle style_of(const Session& session) {
  return {session.options.width, session.options.colour};
}

void write_page(const Report& report, const std::string& path, const Session& session) {
  const auto& root = session.workspace.root();
  const training_log::PageAssets assets{root / "autograder/training_log/templates",
                                        root / "autograder/render/templates/style.css",
                                        render::installed_chart_js()};
  const std::string page = training_log::log_page(report, assets);
  try {
    record::write_file(path, page, record::Sync::kNo);
  } catch (const record::RecordError& error) {
    throw UsageError(error.what());
  }
  print(path + "\n");
}

int show(const LogOptions& options, const Session& session) {
  const Report report = read(options.file, options);
  if (options.html.empty()) {
    print(training_log::show_text(report, style_of(session)));
  } else {
    write_page(report, options.html, session);
  }
  return status_of(report);
}

// With --retry-of, the last run of the earlier log beside the first of this one.
void compare(Report& report, const LogOptions& options) {
  if (options.earlier.empty() || report.runs.empty()) return;
  const Report earlier = read(options.earlier, options);
  if (earlier.runs.empty()) throw messages::no_steps(options.earlier);
  auto& run = *report.runs.front();
  if (auto told = training_log::retried(earlier.runs.back()->print, run.print)) {
    run.findings.push_back(std::move(*told));
    training_log::rank(run.findings);
  }
}

int explain(const LogOptions& options, const Session& session) {
  Report report = read(options.file, options);
  compare(report, options);
  print(options.json ? training_log::report_json(report)
                     : training_log::explain_text(report, style_of(session)));
  return status_of(report);
}

int check(const LogOptions& options, const Session& session) {
  Report report = read(options.file, options);
  compare(report, options);
  print(options.json ? training_log::report_json(report)
                     : training_log::check_text(report, style_of(session)));
  if (report.runs.empty()) return kUsage;
  const auto level = training_log::severity_of(options.fail_on);
  int failing = 0;
  for (const auto& finding : report.all()) failing += finding.severity >= *level ? 1 : 0;
  if (!options.json) {
    print(failing == 0
              ? fmt::format("ok: nothing of severity {} or above\n", options.fail_on)
              : fmt::format("failed: {} of severity {} or above\n", failing, options.fail_on));
  }
  return failing == 0 ? kDone : kCheckFailed;
}

int convert(const LogOptions& options) {
  const auto target =
      options.target == "csv" ? training_log::Target::kCsv : training_log::Target::kJsonl;
  std::string waiting;
  training_log::Converter converter(target, [&](const std::string& line) {
    waiting += line;
    if (waiting.size() < 1 << 16) return;
    print(waiting);
    waiting.clear();
  });
  training_log::ReadOptions how;
  how.analyse = false;
  how.on_step = [&](const auto& step) { converter.step(step); };
  how.on_event = [&](const auto& event) { converter.event(event); };
  try {
    const Report report = training_log::read_log(options.file, how);
    if (report.runs.empty()) throw messages::no_steps(options.file);
    converter.finish();
    print(waiting);
    note(training_log::headline(report, {80, false}));
  } catch (const training_log::LogError& error) {
    throw UsageError(error.what());
  }
  return kDone;
}

CLI::App& action(CLI::App& log, LogOptions& options, const char* name, const char* about,
                 const char* example) {
  CLI::App& added = *log.add_subcommand(name, about);
  added.footer(std::string("Example:\n  ") + example);
  added.add_option("FILE", options.file, "the log, - for standard input, or an ormas run folder")
      ->required();
  return added;
}

void add_common(CLI::App& added, LogOptions& options) {
  added
      .add_option("--max-norm", options.max_norm, "the clip threshold, if the log does not say it")
      ->check([](const std::string& text) {
        return std::strtod(text.c_str(), nullptr) > 0 ? std::string() : text + " is not above 0";
      });
}

void add_findings(CLI::App& added, LogOptions& options) {
  add_common(added, options);
  added.add_option("--retry-of", options.earlier, "the log of the run that this one tried again");
  added.add_flag("--json", options.json, "print what was found as JSON");
}

}  // namespace

void add_log(CLI::App& app, Session& session) {
  auto& verb = add_verb(app, {"log", kForStudents, "Read a training log: plots, story, diagnoses",
                              "./gradlab log explain run.jsonl"});
  verb.require_subcommand(1);
  auto options = std::make_shared<LogOptions>();
  const auto run = [&session, options](int (*act)(const LogOptions&, const Session&)) {
    return [&session, options, act] { session.exit_status = act(*options, session); };
  };
  auto& show_action = action(verb, *options, "show", "Loss, norm, scale and skips over the steps",
                             "./gradlab log show run.jsonl --html run.html");
  add_common(show_action, *options);
  show_action.add_option("--html", options->html, "write a page with plots to this file");
  show_action.callback(run(show));

  auto& explain_action =
      action(verb, *options, "explain", "What happened, what it points to, what to change first",
             "./gradlab log explain second.jsonl --retry-of first.jsonl");
  add_findings(explain_action, *options);
  explain_action.callback(run(explain));

  auto& check_action = action(verb, *options, "check", "Findings, and an exit status for CI",
                              "./gradlab log check run.jsonl --fail-on warning");
  add_findings(check_action, *options);
  check_action.add_option("--fail-on", options->fail_on, "exit with 1 from this severity on")
      ->check(CLI::IsMember({"info", "warning", "critical"}))
      ->capture_default_str();
  check_action.callback(run(check));

  auto& convert_action = action(verb, *options, "convert", "The log as gradlab's record or a table",
                                "./gradlab log convert train.txt --to csv > train.csv");
  convert_action.add_option("--to", options->target, "jsonl or csv")
      ->check(CLI::IsMember({"jsonl", "csv"}))
      ->capture_default_str();
  convert_action.callback([&session, options] { session.exit_status = convert(*options); });

  auto& follow_action = action(verb, *options, "follow", "Tell what happens while the log grows",
                               "./gradlab log follow run.jsonl");
  follow_action.callback(
      [&session, options] { session.exit_status = follow(options->file, session); });
}

}  // namespace gradlab::cli
