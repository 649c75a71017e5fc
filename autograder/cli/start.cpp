// ./gradlab start and reset: a student's own copy of a lab's skeleton, in work/. Git ignores that
// folder, so that pulling a mended lab never meets it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "cli/files.hpp"
#include "cli/messages.hpp"
#include "cli/work_time.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;

std::string first_not_started(const Workspace& workspace) {
  const auto labs = workspace.labs();
  if (labs.empty()) throw messages::no_labs(workspace.shown(workspace.root() / "labs"));
  for (const auto& lab : labs) {
    if (!fs::exists(workspace.work_file(lab.slug))) return lab.slug;
  }
  throw messages::all_started();
}

void copy_skeleton(const Workspace& workspace, const std::string& slug) {
  const fs::path skeleton = workspace.skeleton(slug);
  if (!fs::exists(skeleton)) throw messages::missing_part(workspace.shown(skeleton), "start");
  const fs::path mine = workspace.work_file(slug);
  if (!write_new_file(mine, read_whole(skeleton))) {
    throw messages::already_started(workspace.shown(mine), slug);
  }
  note_work(workspace, slug);
  print(fmt::format("{} is yours to edit.\nRead {}, then: ./gradlab check {}\n",
                    workspace.shown(mine), workspace.shown(workspace.handout(slug)), slug));
}

void reset(const Workspace& workspace, const std::string& slug) {
  const fs::path mine = workspace.work_file(slug);
  if (fs::symlink_status(mine).type() == fs::file_type::not_found) {
    throw messages::nothing_to_reset(workspace.shown(mine), slug);
  }
  const fs::path backup = move_to_backup(mine);
  print(fmt::format("Your work is kept as {}.\n", workspace.shown(backup)));
  // The last score was that of the work that is put aside.
  std::error_code ignored;
  fs::remove(workspace.last_record(slug), ignored);
  copy_skeleton(workspace, slug);
}

}  // namespace

void add_start(CLI::App& app, Session& session) {
  auto& verb = add_verb(app, {"start", kForStudents, "Copy a lab's skeleton to work/, to edit it",
                              "./gradlab start clipping"});
  auto lab = std::make_shared<std::string>();
  verb.add_option("LAB", *lab, "the lab, or the beginning of its name; else the first not started");
  verb.callback([&session, lab] {
    const auto& workspace = session.workspace;
    copy_skeleton(workspace,
                  lab->empty() ? first_not_started(workspace) : workspace.find_slug(*lab));
  });
}

void add_reset(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"reset", kForStudents, "Begin a lab anew; your file is kept beside as .1, .2, ...",
            "./gradlab reset clipping"});
  auto lab = std::make_shared<std::string>();
  verb.add_option("LAB", *lab, "the lab, or the beginning of its name")->required();
  verb.callback([&session, lab] { reset(session.workspace, session.workspace.find_slug(*lab)); });
}

}  // namespace gradlab::cli
