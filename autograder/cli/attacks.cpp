// ./gradlab attacks: grades the bank of hostile hand-ins on this machine, on the same way as a
// class, and says which promise does not hold.
#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/app.hpp"
#include "cli/attack_bank.hpp"
#include "cli/attack_outcome.hpp"
#include "cli/grader.hpp"
#include "cli/messages.hpp"
#include "cli/words.hpp"
#include "pipeline/batch.hpp"
#include "pipeline/work_folder.hpp"
#include "render/report.hpp"
#include "render/terminal.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

struct AttacksOptions {
  std::vector<std::string> names;
  std::string isolation;
  std::string seed = "7";
  std::string out;
  int jobs = 0;
  bool json = false;
};

// What is graded as one class: the attacks of a lab, or one that sets variables; and an honest
// hand-in beside them.
struct Group {
  std::string name;
  std::string lab;
  std::vector<const Attack*> attacks;
};

std::vector<const Attack*> chosen(const AttackBank& bank, const std::vector<std::string>& names) {
  std::vector<const Attack*> all;
  std::vector<std::string> known;
  for (const auto& attack : bank.attacks) {
    known.push_back(attack.name);
    if (names.empty() || std::find(names.begin(), names.end(), attack.name) != names.end()) {
      all.push_back(&attack);
    }
  }
  for (const auto& name : names) {
    if (bank.find(name) == nullptr) throw messages::unknown_attack(name, nearest(name, known));
  }
  return all;
}

std::vector<Group> grouped(const std::vector<const Attack*>& attacks) {
  std::map<std::string, Group> groups;
  for (const auto* attack : attacks) {
    const auto& key = attack->environment.empty() ? attack->lab : attack->name;
    auto& group = groups[key];
    group.name = key;
    group.lab = attack->lab;
    group.attacks.push_back(attack);
  }
  std::vector<Group> all;
  for (auto& [name, group] : groups) all.push_back(std::move(group));
  return all;
}

// Sets the variables of a group's attacks for as long as it lives.
class Environment {
 public:
  explicit Environment(const std::vector<const Attack*>& attacks) {
    for (const auto* attack : attacks) {
      for (const auto& text : attack->environment) {
        const auto name = text.substr(0, text.find('='));
        const char* before = getenv(name.c_str());
        before_.emplace_back(name, before == nullptr ? std::nullopt : std::optional(before));
        setenv(name.c_str(), text.c_str() + name.size() + 1, 1);
      }
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

class Trial {
 public:
  Trial(const AttackBank& bank, const AttacksOptions& options, Session& session)
      : bank_(bank), options_(options), session_(session) {}

  std::vector<AttackOutcome> run(const Group& group) {
    const Manifest lab = session_.workspace.find_lab(group.lab);
    const auto setup = prepare_grader(session_, lab, /*own_file=*/false, options_.isolation);
    const pipeline::WorkFolder work;
    const fs::path folder = work.path() / "class";
    std::vector<AttackOutcome> outcomes;
    const Attack honest = honest_of(group.lab);
    lay_out(honest, session_.workspace.root(), folder);
    std::vector<Attack> graded{honest};
    for (const auto* attack : group.attacks) {
      if (lay_out(*attack, session_.workspace.root(), folder)) {
        graded.push_back(*attack);
      } else {
        fs::remove_all(folder / attack->student);
        outcomes.push_back(not_run(*attack, "needs root, to make a device"));
      }
    }
    const Environment environment(group.attacks);
    const auto batch = intake::read_hand_ins(folder, lab, work.out());
    const auto result = grade(lab, setup, batch, folder, work.path(), group.name);
    if (!result.stopped.empty()) throw GraderFault(result.stopped);
    for (auto& attack : graded) {
      if (setup.isolation == sandbox::Isolation::kContainer && attack.in_container) {
        attack.verdict = attack.in_container->verdict;
        attack.reads = attack.in_container->reads;
      }
      outcomes.push_back(outcome_of(attack, lab, result.records, batch.notes));
    }
    return outcomes;
  }

 private:
  Attack honest_of(const std::string& lab) const {
    const auto found = bank_.honest.find(lab);
    if (found == bank_.honest.end()) {
      throw GraderFault(
          fmt::format("tests/attacks/bank.toml: [honest] names no answer to {}", lab));
    }
    Attack honest;
    honest.name = honest.student = "honest";
    honest.lab = lab;
    honest.promise = "the honest hand-in beside them keeps every point";
    honest.verdict = record::Verdict::kPass;
    for (const auto& task : session_.workspace.find_lab(lab).tasks) honest.keeps.push_back(task.id);
    honest.entries = {fmt::format("copy honest/{}.cpp {}", lab, found->second)};
    return honest;
  }

  pipeline::BatchResult grade(const Manifest& lab, const pipeline::Setup& setup,
                              const intake::Batch& batch, const fs::path& folder,
                              const fs::path& work, const std::string& group) {
    const fs::path kept = options_.out.empty() ? work / "results" : fs::path(options_.out) / group;
    const auto out = named_by_user(
        [&] { return pipeline::BatchFolder(fs::absolute(kept), lab.slug, folder, options_.seed); });
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    // More than one a core: most of them wait for a limit.
    const int jobs = options_.jobs > 0 ? options_.jobs : 3 * cores;
    size_t done = 0;
    pipeline::BatchRun run{
        lab, setup, batch.hand_ins, out, jobs, [&](const Record&, bool) {
          if (!session_.options.terminal || options_.json) return;
          print(fmt::format("\r\x1b[K{}  {} of {}", group, ++done, batch.hand_ins.size()));
        }};
    auto result = pipeline::run_batch(run);
    if (session_.options.terminal && !options_.json) print("\r\x1b[K");
    if (!options_.out.empty()) {
      render::ReportOptions report;
      report.templates = session_.workspace.root() / "autograder/render/templates";
      report.chart_js = render::installed_chart_js();
      report.notes = batch.notes;
      render::write_report(result.records, lab, kept, report);
    }
    return result;
  }

  const AttackBank& bank_;
  const AttacksOptions& options_;
  Session& session_;
};

void run_attacks(const AttacksOptions& options, Session& session) {
  if (options.isolation == "none") throw messages::attacks_without_isolation();
  const auto path = session.workspace.root() / "tests/attacks/bank.toml";
  if (!fs::exists(path)) throw messages::missing_part(session.workspace.shown(path), "attacks");
  const AttackBank bank = read_attack_bank(path);
  Trial trial(bank, options, session);
  std::vector<AttackOutcome> outcomes;
  for (const auto& group : grouped(chosen(bank, options.names))) {
    for (auto& outcome : trial.run(group)) outcomes.push_back(std::move(outcome));
  }
  const OutcomeView view{session.options.colour, session.options.width};
  print(options.json ? to_json(outcomes).dump(2) + "\n" : render_outcomes(outcomes, view));
  const auto holds = [](const AttackOutcome& outcome) { return outcome.differs.empty(); };
  if (!std::all_of(outcomes.begin(), outcomes.end(), holds)) session.exit_status = kCheckFailed;
}

}  // namespace

void add_attacks(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"attacks", kForInstructors, "Prove on this machine that hostile hand-ins get nowhere",
            "./gradlab attacks\n  ./gradlab attacks forks_without_end --json"});
  auto options = std::make_shared<AttacksOptions>();
  verb.add_option("NAME", options->names, "only these of tests/attacks/bank.toml; else all");
  verb.add_option("--isolation", options->isolation, "full or container; otherwise the best here");
  verb.add_option("--seed", options->seed, "the seed they are graded with")->capture_default_str();
  verb.add_option("--jobs", options->jobs, "hand-ins at a time; otherwise three a core")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--out", options->out, "keep records and reports in this folder");
  verb.add_flag("--json", options->json, "print the table as JSON");
  verb.callback([options, &session] { run_attacks(*options, session); });
}

}  // namespace gradlab::cli
