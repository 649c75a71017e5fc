#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "cli/app.hpp"
#include "cli/grader.hpp"
#include "cli/words.hpp"
#include "pipeline/batch.hpp"
#include "pipeline/work_folder.hpp"
#include "render/grade_text.hpp"
#include "render/report.hpp"
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
      for (const auto& name : lab.hand_in) found = found || fs::exists(entry.path() / name, ignored);
    }
    if (found) matches.push_back(lab.slug);
  }
  if (matches.size() == 1) return workspace.find_lab(matches.front());
  if (matches.empty()) {
    throw UsageError(fmt::format("no lab's file lies in {}; name the lab with --lab",
                                 folder.string()));
  }
  throw UsageError(fmt::format("{} holds files of {}; name one with --lab", folder.string(),
                               joined(matches)));
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
      print(fmt::format("{}  {}\n", line, record.student));
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

void show_notes(const intake::Batch& batch) {
  for (const auto& text : batch.notes) note(text);
}

void write_results(const pipeline::BatchResult& result, const Manifest& lab,
                   const pipeline::BatchFolder& folder, double seconds, const Session& session) {
  render::ReportOptions report;
  report.templates = session.workspace.root() / "autograder/render/templates";
  render::write_report(result.records, lab, folder.path(), report);
  const render::GradeOptions view{session.options.colour, session.options.width};
  print("\n" + render::render_grade_table(result.records, view));
  print(render::render_grade_summary(result.records, seconds, view));
  const auto shown = [&](const char* name) {
    return session.workspace.shown(folder.path() / name);
  };
  print(fmt::format("{}   {}   {}\n", shown("report/index.html"), shown("grades.csv"),
                    shown("records/")));
}

void audit(const pipeline::BatchRun& run, int count, Session& session) {
  std::vector<std::string> seeds;
  for (int i = 0; i < count; ++i) seeds.push_back(fmt::format("{}-{}", run.folder.seed(), i));
  const auto audits = pipeline::audit_batch(run, seeds, [&](const std::string& student) {
    if (!session.options.terminal) return;
    print("\r\x1b[K" + student);
  });
  if (session.options.terminal) print("\r\x1b[K");
  int unsteady = 0;
  for (size_t i = 0; i < audits.size(); ++i) {
    const auto& audit = audits[i];
    std::map<std::string, int> scores;
    for (const auto& score : audit.scores) ++scores[score ? std::to_string(*score) : "no score"];
    if (scores.size() <= 1) continue;
    ++unsteady;
    std::vector<std::string> parts;
    for (const auto& [score, times] : scores) parts.push_back(fmt::format("{} ({}x)", score, times));
    // The checks that pass with one seed and not with another are the faulty ones.
    std::map<std::string, int> failed;
    for (const auto& names : audit.not_passing) {
      for (const auto& name : names) ++failed[name];
    }
    std::vector<std::string> faulty;
    for (const auto& [name, times] : failed) {
      if (times < static_cast<int>(audit.not_passing.size())) faulty.push_back(name);
    }
    print(fmt::format("{}: score {} by seed; look at {}\n",
                      run.hand_ins[i].student, joined(parts, "or"), joined(faulty)));
  }
  print(unsteady == 0
            ? fmt::format("audit: {} hand-ins x {} seeds, every score is the same\n",
                          audits.size(), count)
            : fmt::format("audit: {} of {} hand-ins score differently by seed: a check is faulty\n",
                          unsteady, audits.size()));
  if (unsteady > 0) session.exit_status = kCheckFailed;
}

void run_grade(const GradeOptions& options, Session& session) {
  const fs::path given = options.folder;
  std::error_code missing;
  const fs::path folder = fs::exists(given) ? fs::canonical(given, missing) : given;
  const pipeline::WorkFolder copies;
  if (!fs::is_directory(folder)) {
    // Intake has the words for it, whichever lab it is.
    intake::read_hand_ins(folder, session.workspace.labs().front(), copies.path());
  }
  const Manifest lab = options.lab.empty() ? guess_lab(session.workspace, folder)
                                           : session.workspace.find_lab(options.lab);
  const auto batch = intake::read_hand_ins(folder, lab, copies.path());
  const pipeline::BatchFolder out(fs::absolute(options.out), lab.slug, folder, options.seed);
  auto setup = prepare_grader(session, lab, /*own_file=*/false, options.isolation);
  setup.stop = &interrupted;
  print(fmt::format("{} hand-ins found in {} ({}). Lab {}. Sandbox: {}. Seed {} {} {}\n",
                    batch.hand_ins.size(), options.folder, batch.shape, lab.slug,
                    sandbox::to_string(setup.isolation), out.seed(),
                    out.is_new() ? "kept in" : "from",
                    session.workspace.shown(out.path() / "batch.json")));
  show_notes(batch);

  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);
  Progress progress(session, static_cast<int>(batch.hand_ins.size()));
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  pipeline::BatchRun run{lab, setup, batch.hand_ins, out, options.jobs > 0 ? options.jobs : cores,
                         [&](const Record& record, bool graded) { progress.take(record, graded); }};
  if (options.audit_seeds > 0) return audit(run, options.audit_seeds, session);
  const auto result = pipeline::run_batch(run);
  progress.end_line();
  write_results(result, lab, out, progress.seconds(), session);
  if (!result.stopped.empty()) {
    note(fmt::format("stopped: {}. What is graded stays; the same command goes on from there.",
                     result.stopped));
    session.exit_status = interrupted ? 130 : kGraderFault;
    return;
  }
  for (const auto& record : result.records) {
    if (record.verdict == record::Verdict::kGraderError) session.exit_status = kGraderFault;
  }
}

}  // namespace

void add_grade(CLI::App& app, Session& session) {
  auto options = std::make_shared<GradeOptions>();
  auto* verb = app.add_subcommand("grade", "Grade a folder of hand-ins, one folder or file a student");
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
  verb->add_option("--jobs", options->jobs, "hand-ins at a time; otherwise one a core");
  verb->add_option("--isolation", options->isolation, "none: for code that you trust");
  verb->add_option("--audit-seeds", options->audit_seeds,
                   "grade with N seeds and list every score that depends on the seed");
  verb->callback([options, &session] { run_grade(*options, session); });
}

}  // namespace gradlab::cli
