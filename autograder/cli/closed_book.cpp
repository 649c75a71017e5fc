#include "cli/closed_book.hpp"

#include <nlohmann/json.hpp>

#include "cli/closed_book_messages.hpp"
#include "cli/drill_messages.hpp"
#include "cli/files.hpp"
#include "cli/messages.hpp"
#include "record/store.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormat = 1;

fs::path state_file(const Workspace& workspace) {
  return workspace.state_dir() / "closed_book.json";
}

ClosedBook from_json(const json& state) {
  if (state.at("format") != kFormat) throw std::runtime_error("another format");
  ClosedBook book;
  book.open = state.at("open").get<std::map<std::string, std::int64_t>>();
  for (const auto& each : state.at("results")) {
    book.results.push_back({each.at("lab").get<std::string>(),
                            each.at("started").get<std::int64_t>(),
                            each.at("minutes").get<double>(), each.at("score").get<int>(),
                            each.at("max_score").get<int>(), each.at("sha256").get<std::string>()});
  }
  return book;
}

}  // namespace

ClosedBook ClosedBook::read(const Workspace& workspace, bool look_only) {
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

void ClosedBook::write(const Workspace& workspace) const {
  json state = {{"format", kFormat}, {"open", open}, {"results", json::array()}};
  for (const auto& each : results) {
    state["results"].push_back({{"lab", each.lab},
                                {"started", each.started},
                                {"minutes", each.minutes},
                                {"score", each.score},
                                {"max_score", each.max_score},
                                {"sha256", each.sha256}});
  }
  try {
    record::write_file(state_file(workspace), state.dump(1) + "\n");
  } catch (const record::RecordError& error) {
    throw messages::progress_not_kept(workspace.shown(state_file(workspace)), error.what());
  }
}

const ClosedBookResult* ClosedBook::best(const std::string& slug) const {
  const ClosedBookResult* best = nullptr;
  for (const auto& each : results) {
    if (each.lab == slug && (best == nullptr || each.score > best->score)) best = &each;
  }
  return best;
}

fs::path closed_book_file(const Workspace& workspace, const std::string& slug) {
  return workspace.work_file(slug).parent_path() / "closed-book" / (slug + ".cpp");
}

void refuse_help_while_closed(const Workspace& workspace, const std::string& slug) {
  if (ClosedBook::read(workspace, /*look_only=*/true).open.contains(slug)) {
    throw messages::book_is_closed(slug);
  }
}

}  // namespace gradlab::cli
