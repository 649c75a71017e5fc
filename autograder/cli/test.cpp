// ./gradlab test: builds the project's own tests and runs them with ctest.
#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "cli/build.hpp"
#include "cli/process.hpp"

namespace gradlab::cli {
namespace {

int run_tests(const Session& session, const std::string& word) {
  const auto& root = session.workspace.root();
  build_tests(session.workspace, session.options.terminal);
  std::vector<std::string> argv = {
      "ctest", "--test-dir",      (root / "build" / "dev").string(), "--output-on-failure",
      "-j2",   "--no-tests=error"};
  if (!word.empty()) {
    argv.insert(argv.end(), {"-R", word});
  } else {
    argv.insert(argv.end(), {"-E", "^compat\\."});  // these fetch other LibTorch versions
  }
  const int status = run_through(argv, root.string());
  // ctest has a status of its own for a failed test.
  constexpr int kTestsFailed = 8;
  return status == kTestsFailed ? kCheckFailed : status;
}

}  // namespace

void add_test(CLI::App& app, Session& session) {
  auto& verb =
      add_verb(app, {"test", kForAuthors, "Run gradlab's own tests", "./gradlab test sandbox"});
  auto word = std::make_shared<std::string>();
  verb.add_option("WORD", *word,
                  "only tests whose name matches this (as ctest -R); else all but compat");
  verb.callback([&session, word] { session.exit_status = run_tests(session, *word); });
}

}  // namespace gradlab::cli
