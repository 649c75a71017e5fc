#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "cli/app.hpp"
#include "cli/audit.hpp"
#include "cli/grader.hpp"
#include "cli/words.hpp"
#include "pipeline/batch.hpp"
#include "pipeline/work_folder.hpp"
#include "render/grade_text.hpp"
#include "render/isolation_text.hpp"
#include "render/report.hpp"
#include "render/terminal.hpp"
#include "render/words.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

struct GradeOptions {
  std::string folder;
  std::string lab;
  std::string out = "results";
  std::string seed;
  std::string isolation;
  int jobs = 0;
  int audit_seeds = 0;
  bool show_output = false;
};

std::atomic<bool> interrupted{false};

// The first Ctrl-C ends the batch in order; a second one ends the command at once.
void on_interrupt(int) {
  if (interrupted.exchange(true)) _exit(130);
}

// The lab whose file names are found in the folder, for a command line without --lab.
Manifest guess_lab(const Workspace& workspace, const fs::path& folder) {
  std::vector<std::string> matches;
  const auto labs = workspace.labs();
  for (const auto& lab : labs) {
    const auto is_hand_in = [&](const fs::path& file) {
      return std::find(lab.hand_in.begin(), lab.hand_in.end(), file.filename().string()) !=
             lab.hand_in.end();
    };
    std::error_code ignored;
    bool found = false;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      found = found || is_hand_in(entry.path());
      if (!entry.is_directory(ignored)) continue;
      for (const auto& name : lab.hand_in)
        found = found || fs::exists(entry.path() / name, ignored);
    }
    if (found) matches.push_back(lab.slug);
  }
  if (matches.size() == 1) return workspace.find_lab(matches.front());
  if (matches.empty()) {
    throw UsageError(
        fmt::format("no lab's file lies in {}; name the lab with --lab", folder.string()));
  }
  throw UsageError(
      fmt::format("{} holds files of {}; name one with --lab", folder.string(), joined(matches)));
}

class Progress {
 public:
  Progress(const Session& session, int total) : session_(session), started_(Clock::now()) {
    progress_.total = total;
  }

  void take(const Record& record, bool graded) {
    (graded ? progress_.done : progress_.earlier) += 1;
    ++counts_[record.verdict];
    progress_.counts.assign(counts_.begin(), counts_.end());
    progress_.seconds = seconds();
    const std::string line =
        render::render_progress(progress_, session_.options.terminal, session_.options.width);
    if (session_.options.terminal) {
      print("\r\x1b[K" + line);
    } else if (graded) {
      print(fmt::format("{}  {}\n", line, render::printable(record.student)));
    }
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }
  void end_line() const {
    if (session_.options.terminal) print("\r\x1b[K");
  }

 private:
  const Session& session_;
  Clock::time_point started_;
  render::Progress progress_;
  std::map<record::Verdict, int> counts_;
};

void show_results(const pipeline::BatchResult& result, double seconds, const Session& session) {
  const render::GradeOptions view{session.options.colour, session.options.width};
  print("\n" + render::render_grade_table(result.records, view));
  print(render::render_grade_summary(result.records, seconds, view));
  print(render::render_not_promised(result.records, view.width));
  if (result.stopped.empty()) return;
  note(fmt::format("stopped: {}. What is graded stays; the same command goes on from there.",
                   result.stopped));
}

void write_reports(const pipeline::BatchResult& result, const pipeline::BatchRun& run,
                   const std::vector<std::string>& notes, bool show_output,
                   const Session& session) {
  const pipeline::BatchFolder& folder = run.folder;
  render::ReportOptions report;
  report.templates = session.workspace.root() / "autograder/render/templates";
  report.chart_js = render::installed_chart_js();
  report.notes = notes;
  report.show_output = show_output;
  render::write_report(result.records, run.lab, folder.path(), report);
  const auto shown = [&](const char* name) {
    return session.workspace.shown(folder.path() / name);
  };
  print(fmt::format("{}   {}   {}\n", shown("report/index.html"), shown("grades.csv"),
                    shown("records/")));
}

void run_grade(const GradeOptions& options, Session& session) {
  const fs::path given = options.folder;
  std::error_code missing;
  const fs::path folder = fs::exists(given) ? fs::canonical(given, missing) : given;
  const pipeline::WorkFolder copies;
  if (!fs::is_directory(folder, missing) || fs::is_empty(folder, missing)) {
    // Intake has the words for it, whichever lab it is.
    const auto labs = session.workspace.labs();
    named_by_user([&] { return intake::read_hand_ins(folder, labs.front(), copies.path()); });
  }
  const Manifest lab = options.lab.empty() ? guess_lab(session.workspace, folder)
                                           : session.workspace.find_lab(options.lab);
  const auto batch =
      named_by_user([&] { return intake::read_hand_ins(folder, lab, copies.path()); });
  const auto out = named_by_user([&] {
    return pipeline::BatchFolder(fs::absolute(options.out), lab.slug, folder, options.seed);
  });
  auto setup = prepare_grader(session, lab, /*own_file=*/false, options.isolation);
  setup.stop = &interrupted;
  print(fmt::format(
      "{} hand-ins found in {} ({}). Lab {}. Sandbox: {}. Seed {} {} {}\n", batch.hand_ins.size(),
      options.folder, batch.shape, lab.slug, sandbox::to_string(setup.isolation), out.seed(),
      out.is_new() ? "kept in" : "from", session.workspace.shown(out.path() / "batch.json")));
  for (const auto& text : batch.notes) note(render::printable(text));

  go_on_without_reader();
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  Progress progress(session, static_cast<int>(batch.hand_ins.size()));
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  pipeline::BatchRun run{lab,
                         setup,
                         batch.hand_ins,
                         out,
                         options.jobs > 0 ? options.jobs : cores,
                         [&](const Record& record, bool graded) { progress.take(record, graded); }};
  if (options.audit_seeds > 0) return audit_seeds(run, options.audit_seeds, session);
  const auto result = pipeline::run_batch(run);
  progress.end_line();
  // First what needs no disk: it may be full, and then that is why the batch stopped.
  show_results(result, progress.seconds(), session);
  // Where a record could not be written, pages can't either, or would hide that the folder is gone.
  if (result.stopped.empty() || interrupted) {
    write_reports(result, run, batch.notes, options.show_output, session);
  }
  for (const auto& record : result.records) {
    if (record.verdict == record::Verdict::kGraderError) session.exit_status = kGraderFault;
  }
  if (!result.stopped.empty()) session.exit_status = interrupted ? 130 : kGraderFault;
}

}  // namespace

void add_grade(CLI::App& app, Session& session) {
  auto options = std::make_shared<GradeOptions>();
  auto* verb =
      app.add_subcommand("grade", "Grade a folder of hand-ins, one folder or file a student");
  verb->group(kForInstructors);
  verb->footer(
      "Example:\n"
      "  ./gradlab grade submissions --lab clipping --out results\n"
      "Ends with 0 however the students did. The same command goes on with a batch that was cut\n"
      "off, and grades only what changed since.");
  verb->add_option("FOLDER", options->folder, "one folder or one file a student")->required();
  verb->add_option("--lab", options->lab, "the lab; otherwise told by the files' names");
  verb->add_option("--out", options->out, "where records and reports go")->capture_default_str();
  verb->add_option("--seed", options->seed, "the batch's seed; otherwise drawn and kept");
  verb->add_option("--jobs", options->jobs, "hand-ins at a time; otherwise one a core")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--isolation", options->isolation,
                   "container: in an image that is itself the box; none: for code that you trust");
  verb->add_option("--audit-seeds", options->audit_seeds,
                   "grade with N seeds and list every score that depends on the seed")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--show-output", options->show_output,
                 "show on students' pages what their hand-ins printed and how long they took");
  verb->callback([options, &session] { run_grade(*options, session); });
}

}  // namespace gradlab::cli
