// ./gradlab list: the labs in their order, and how far the student is with each.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/app.hpp"
#include "cli/words.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;

// The score of the last check. The file is only read for this, so damage in it is no error.
std::string last_score(const Workspace& workspace, const std::string& slug) {
  const fs::path file = workspace.last_record(slug);
  std::ifstream in(file, std::ios::binary);
  const auto record = nlohmann::json::parse(in, nullptr, false);
  if (!record.is_object() || !record.contains("score") || !record.contains("max_score")) {
    return "started";
  }
  if (!record["score"].is_number_integer() || !record["max_score"].is_number_integer()) {
    return "started, no score";
  }
  std::error_code ignored;
  const bool changed =
      fs::last_write_time(workspace.work_file(slug), ignored) > fs::last_write_time(file, ignored);
  return fmt::format("{} of {}{}", record["score"].get<int>(), record["max_score"].get<int>(),
                     changed ? ", changed since" : "");
}

std::string state_of(const Workspace& workspace, const std::string& slug) {
  if (!fs::exists(workspace.work_file(slug))) return "not started";
  return last_score(workspace, slug);
}

}  // namespace

void show_list(const Session& session) {
  const auto labs = session.workspace.labs();
  int slug_width = 6;
  int state_width = 5;
  std::vector<std::string> states;
  for (const auto& lab : labs) {
    states.push_back(state_of(session.workspace, lab.slug));
    slug_width = std::max(slug_width, width_of(lab.slug));
    state_width = std::max(state_width, width_of(states.back()));
  }
  constexpr int kFigures = 2 + 6 + 2 + 7 + 2;
  const int title_width =
      std::max(20, session.options.width - slug_width - 2 - kFigures - state_width);

  const auto line = [&](const std::string& slug, const std::string& title,
                        const std::string& points, const std::string& minutes,
                        const std::string& yours) {
    print(fmt::format("{}  {}  {:>6}  {:>7}  {}\n", padded(slug, slug_width),
                      padded(title, title_width), points, minutes, yours));
  };
  line("lab", "title", "points", "minutes", "yours");
  bool any_started = false;
  for (size_t i = 0; i < labs.size(); ++i) {
    any_started |= states[i] != "not started";
    line(labs[i].slug, labs[i].title, std::to_string(labs[i].max_points()),
         std::to_string(labs[i].minutes), states[i]);
  }
  if (!any_started && !labs.empty()) {
    print(fmt::format("Begin with: ./gradlab start {}\n", labs.front().slug));
  }
}

void add_list(CLI::App& app, Session& session) {
  auto& verb =
      add_verb(app, {"list", kForStudents, "Show the labs and how far you are", "./gradlab list"});
  verb.callback([&session] { show_list(session); });
}

}  // namespace gradlab::cli
