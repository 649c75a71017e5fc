// ./gradlab doctor: proves of each lab what every lab promises. The proofs are autograder/doctor.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <sstream>
#include <thread>

#include "cli/app.hpp"
#include "cli/build.hpp"
#include "cli/command_line.hpp"
#include "cli/doctor_sandbox.hpp"
#include "cli/grader.hpp"
#include "cli/messages.hpp"
#include "cli/process.hpp"
#include "doctor/contract.hpp"
#include "doctor/handout.hpp"
#include "doctor/implementations.hpp"
#include "doctor/mutants.hpp"
#include "doctor/say.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

struct DoctorOptions {
  std::string lab;
  int seeds = 20;
  int jobs = 0;
  bool mutants = false;
  bool sandbox = false;
};

doctor::Contents contents_of(const Workspace& workspace, const std::string& program) {
  const auto path = workspace.program(program).string();
  const auto listed = run_captured({path, "--list"}, workspace.root().string());
  const auto json = nlohmann::json::parse(listed.output, nullptr, false);
  if (listed.status != 0 || !json.is_object()) {
    throw messages::cannot_start(path, listed.output);
  }
  return doctor::contents_from(json);
}

// The files of reference/<slug> that an object outside of it was compiled from, by ninja's own
// notes.
std::vector<std::string> read_from_reference(const Workspace& workspace, const std::string& slug) {
  const auto noted = run_captured({"ninja", "-C", workspace.build_dir().string(), "-t", "deps"},
                                  workspace.root().string());
  const std::string reference = fmt::format("/reference/{}/", slug);
  std::vector<std::string> found;
  std::istringstream lines(noted.output);
  bool ours = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(" ")) {
      ours = false;
      for (const char* part : {"experiments_", "checks_", "table_", "runner_"}) {
        ours = ours || line.find(part + slug + ".dir/") != std::string::npos;
      }
    } else if (ours && line.find(reference) != std::string::npos) {
      found.push_back(line.substr(line.find(reference) + 1));
    }
  }
  return found;
}

// A student's bundle has no reference/<slug>: the judge is linked without it, and nothing that goes
// into it was compiled from a file there.
doctor::Proof without_reference(const Workspace& workspace, const Manifest& lab,
                                const doctor::Contents& whole) {
  doctor::Proof proof{"builds without reference", {}, {}};
  const std::string program = fmt::format("judge_{}_without_reference", lab.slug);
  try {
    ensure_target(workspace, program, "the judge without its reference");
    const auto bare = contents_of(workspace, program);
    if (bare.has_reference || bare.checks.size() != whole.checks.size()) {
      proof.problems.push_back({"the judge that is built without reference holds one", ""});
    }
    for (const auto& file : read_from_reference(workspace, lab.slug)) {
      proof.problems.push_back(
          {"checks or experiments include " + file, "a student's copy does not have it"});
    }
  } catch (const GraderFault& fault) {
    proof.problems.push_back({fault.what(), ""});
  }
  if (!proof.problems.empty()) proof.said = "does not build without reference";
  return proof;
}

doctor::Runs runs_for(const DoctorOptions& options, const std::string& slug,
                      const Session& session) {
  doctor::Runs runs;
  runs.seeds = options.seeds;
  runs.of_others = std::clamp(options.seeds / 4, 1, 20);
  runs.jobs =
      options.jobs > 0 ? options.jobs : static_cast<int>(std::thread::hardware_concurrency());
  if (session.options.terminal) {
    runs.on_progress = [slug](size_t done, size_t of) {
      print(fmt::format("\r\x1b[K{}  {} of {}{}", slug, done, of, done == of ? "\r\x1b[K" : ""));
    };
  }
  return runs;
}

// What the exit status has to tell of proofs: a fault of the grader's above all.
void tell_status(const std::vector<doctor::Proof>& proofs, Session& session) {
  if (doctor::is_grader_fault(proofs)) {
    session.exit_status = kGraderFault;
  } else if (!doctor::is_green(proofs) && session.exit_status == kDone) {
    session.exit_status = kCheckFailed;
  }
}

doctor::View view_of(const Session& session) {
  return {session.options.colour, session.options.width};
}

void examine(const CLI::App& app, const Manifest& lab, const DoctorOptions& options,
             Session& session) {
  const auto started = std::chrono::steady_clock::now();
  const auto& workspace = session.workspace;
  if (!fs::exists(workspace.reference(lab.slug))) {
    throw messages::missing_part(workspace.shown(workspace.reference(lab.slug)), "doctor");
  }
  const auto setup = prepare_grader(session, lab, /*own_file=*/true);
  const auto contents = contents_of(workspace, "judge_" + lab.slug);
  std::vector<doctor::Proof> proofs;
  proofs.push_back(doctor::contract(lab, contents, workspace.contract(lab.slug)));
  const auto runs = runs_for(options, lab.slug, session);
  if (doctor::can_be_run(lab, contents)) {
    if (options.mutants) {
      const auto mutation = doctor::mutate({lab, setup, contents}, runs);
      print(doctor::say(lab, mutation, view_of(session)));
      return tell_status(mutation.proofs, session);
    }
    for (auto& proof : doctor::implementations({lab, setup, contents}, runs)) {
      proofs.push_back(std::move(proof));
    }
  } else {
    proofs.front().notes.push_back("nothing was run: mend the contract first");
  }
  const doctor::Surroundings around{
      workspace.root(), setup.toolchain.torch,
      [&](const std::string& line) { return wrong_command(app, workspace, line); }};
  proofs.push_back(doctor::handout(lab, contents, around));
  proofs.push_back(without_reference(workspace, lab, contents));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  print(doctor::say(lab.slug, proofs, took.count(), view_of(session)));
  tell_status(proofs, session);
}

void run_doctor(const CLI::App& app, const DoctorOptions& options, Session& session) {
  if (options.sandbox) return examine_sandbox(session);
  if (!options.lab.empty()) {
    return examine(app, session.workspace.find_lab(options.lab), options, session);
  }
  const auto labs = session.workspace.labs();
  if (labs.empty()) throw messages::no_labs(session.workspace.shown(session.workspace.root()));
  for (const auto& lab : labs) {
    try {
      examine(app, lab, options, session);
    } catch (const std::exception& error) {  // the other labs can be proved all the same
      session.exit_status = std::max(session.exit_status, tell(error));
    }
  }
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"doctor", kForAuthors, "Prove that a lab is sound: checks, bugs, skeleton, handout",
            "./gradlab doctor clipping --seeds 200"});
  auto options = std::make_shared<DoctorOptions>();
  verb.add_option("LAB", options->lab, "the lab, or the beginning of its name; else all of them");
  verb.add_option("--seeds", options->seeds,
                  "seeds for each right answer; for each bug a quarter of it, at most 20")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  verb.add_option("--jobs", options->jobs, "at a time; otherwise one a core");
  verb.add_flag("--mutants", options->mutants,
                "instead: what the known mistakes say about the checks, and how they are named");
  verb.add_flag("--sandbox", options->sandbox,
                "instead: try on this machine what each isolation promises");
  verb.callback([&app, options, &session] { run_doctor(app, *options, session); });
}

}  // namespace gradlab::cli
