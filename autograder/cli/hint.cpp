// ./gradlab hint: one more hint of a task with every call. How many were shown is remembered in
// .gradlab/hints.json.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/app.hpp"
#include "cli/closed_book.hpp"
#include "cli/files.hpp"
#include "cli/messages.hpp"
#include "cli/words.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;

bool is_whole(const nlohmann::json& state) {
  if (!state.is_object()) return false;
  for (const auto& shown : state) {
    if (!shown.is_number_unsigned()) return false;
  }
  return true;
}

// How many hints of each task were shown. A damaged file is put aside, never thrown away.
nlohmann::json read_state(const Workspace& workspace, const fs::path& file) {
  if (!fs::exists(file)) return nlohmann::json::object();
  auto state = nlohmann::json::parse(read_whole(file), nullptr, false);
  if (is_whole(state)) return state;
  const fs::path kept = move_to_backup(file);
  note(messages::state_set_aside(workspace.shown(file), workspace.shown(kept)));
  return nlohmann::json::object();
}

}  // namespace

void show_hint(const Session& session, const std::string& word) {
  const auto& workspace = session.workspace;
  const auto [lab, id] = workspace.find_task(word);
  refuse_help_while_closed(workspace, lab.slug);
  const auto& task = *lab.task(id);
  const std::string name = fmt::format("{}.{}", lab.slug, id);
  const auto& hints = task.hints;
  if (hints.empty()) {
    print(fmt::format("{}  {}\nThis task has no hints. Read {}, task {}.\n", name, task.title,
                      workspace.shown(workspace.handout(lab.slug)), id));
    return;
  }

  const fs::path file = workspace.state_dir() / "hints.json";
  auto state = read_state(workspace, file);
  const size_t before = state.value(name, size_t{0});
  const auto say = [&](size_t index) {
    print(fmt::format("hint {} of {}\n{}", index + 1, hints.size(),
                      wrapped(hints[index], session.options.width, 2)));
  };
  print(fmt::format("{}  {}\n", name, task.title));
  if (before >= hints.size()) {
    print(fmt::format("You have seen all of its hints. Here they are again.\n"));
    for (size_t i = 0; i < hints.size(); ++i) say(i);
    return;
  }
  say(before);
  state[name] = before + 1;
  if (!replace_state(file, state.dump(1) + "\n")) {
    note(messages::state_not_kept(workspace.shown(file)));
  }
  if (before + 1 < hints.size()) print(fmt::format("one more: ./gradlab hint {}\n", name));
}

void add_hint(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"hint", kForStudents, "Show one more hint of a task", "./gradlab hint clipping.2"});
  auto task = std::make_shared<std::string>();
  verb.add_option("LAB.TASK", *task, "the task, such as clipping.2")->required();
  verb.callback([&session, task] { show_hint(session, *task); });
}

}  // namespace gradlab::cli
