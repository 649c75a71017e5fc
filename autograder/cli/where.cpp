// ./gradlab where: the files of a lab.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"

namespace gradlab::cli {
namespace {

void where(const Workspace& workspace, const std::string& slug) {
  namespace fs = std::filesystem;
  const auto line = [&](const char* what, const fs::path& path, const std::string& missing = "") {
    const bool there = fs::exists(path);
    if (!there && missing.empty()) return;
    print(fmt::format("{:<10} {}{}\n", what, workspace.shown(path),
                      there ? "" : "   (" + missing + ")"));
  };
  line("your file", workspace.work_file(slug), "not there yet: ./gradlab start " + slug);
  line("handout", workspace.handout(slug), "missing");
  line("contract", workspace.contract(slug), "missing");
  line("skeleton", workspace.skeleton(slug), "missing");
  line("points", workspace.root() / "labs" / slug / "lab.toml");
  line("checks", workspace.root() / "autograder" / "checks" / (slug + ".cpp"));
  line("checks", workspace.root() / "autograder" / "checks" / slug);
  line("reference", workspace.reference(slug));
  line("last check", workspace.last_record(slug));
}

}  // namespace

void add_where(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"where", kForStudents, "Show where a lab's files lie", "./gradlab where clipping"});
  auto lab = std::make_shared<std::string>();
  verb.add_option("LAB", *lab,
                  "the lab, or the beginning of its name; else the one you changed last");
  verb.callback([&session, lab] {
    const auto& workspace = session.workspace;
    where(workspace, lab->empty() ? workspace.last_changed_lab() : workspace.find_slug(*lab));
  });
}

}  // namespace gradlab::cli
