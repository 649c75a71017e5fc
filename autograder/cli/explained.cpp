#include "cli/explained.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/app.hpp"
#include "cli/drill_messages.hpp"
#include "cli/files.hpp"
#include "cli/messages.hpp"
#include "record/store.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormat = 1;

fs::path state_file(const Workspace& workspace) { return workspace.state_dir() / "explained.json"; }

ExplainedLogs from_json(const json& state) {
  if (state.at("format") != kFormat) throw std::runtime_error("another format");
  ExplainedLogs logs;
  for (const auto& [hash, log] : state.at("logs").items()) {
    logs[hash] = {log.at("file").get<std::string>(), log.at("skips").get<std::set<std::int64_t>>(),
                  log.at("explained").get<std::set<std::int64_t>>()};
  }
  return logs;
}

}  // namespace

ExplainedLogs explained_logs(const Workspace& workspace, bool look_only) {
  const auto file = state_file(workspace);
  if (!fs::exists(file)) return {};
  try {
    return from_json(json::parse(read_whole(file)));
  } catch (const std::exception&) {
    if (!look_only) {
      const auto kept = move_to_backup(file);
      note(messages::state_set_aside(workspace.shown(file), workspace.shown(kept)));
    }
    return {};
  }
}

void keep(const Workspace& workspace, const ExplainedLogs& logs) {
  json state = {{"format", kFormat}, {"logs", json::object()}};
  for (const auto& [hash, log] : logs) {
    state["logs"][hash] = {{"file", log.file}, {"skips", log.skips}, {"explained", log.explained}};
  }
  try {
    record::write_file(state_file(workspace), state.dump(1) + "\n");
  } catch (const record::RecordError& error) {
    throw messages::progress_not_kept(workspace.shown(state_file(workspace)), error.what());
  }
}

}  // namespace gradlab::cli
