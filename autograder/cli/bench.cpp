// ./gradlab bench: measures this machine, with the peers beside it. The measuring is
// tests/bench/run.py.
#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "cli/build.hpp"
#include "cli/messages.hpp"
#include "cli/process.hpp"

namespace gradlab::cli {
namespace {

int run_bench(const Workspace& workspace, const std::string& word, bool json) {
  const auto script = workspace.root() / "tests" / "bench" / "run.py";
  if (!std::filesystem::exists(script)) {
    throw messages::missing_part(workspace.shown(script), "bench");
  }
  for (const auto& slug : workspace.slugs()) ensure_built(workspace, slug);
  std::vector<std::string> argv = {"/usr/bin/python3", "-B", script.string()};
  if (!word.empty()) argv.push_back(word);
  if (json) argv.push_back("--json");
  return run_through(argv, workspace.root().string());
}

}  // namespace

void add_bench(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"bench", kForAuthors, "Measure how fast a verdict comes, and where the time goes",
            "./gradlab bench edit --json"});
  auto word = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  verb.add_option("WORD", *word, "only the measurements whose name holds this; else all");
  verb.add_flag("--json", *json, "print figures as JSON");
  verb.callback(
      [&session, word, json] { session.exit_status = run_bench(session.workspace, *word, *json); });
}

}  // namespace gradlab::cli
