// ./gradlab status: what the unit asks for, what is done, and what comes next.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/app.hpp"
#include "cli/status_text.hpp"
#include "record/store.hpp"
#include "render/page.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;

struct StatusOptions {
  std::string page, name;
  bool json = false;
};

void write(const fs::path& file, const std::string& text) {
  try {
    record::write_file(file, text, record::Sync::kNo);
  } catch (const record::RecordError& error) {
    throw UsageError(error.what());
  }
}

void show(const StatusOptions& options, const Session& session) {
  const auto status = status_of_unit(session.workspace);
  const std::string json = to_json(status).dump(2) + "\n";
  if (!options.page.empty()) {
    const fs::path page = options.page, beside = fs::path(options.page).replace_extension(".json");
    if (page == beside) throw UsageError("--page names a page, such as status.html");
    write(page, status_page(status, session.workspace.root(), options.name));
    write(beside, json);
    note(fmt::format("{} and {} are written.", page.string(), beside.string()));
  }
  print(options.json ? json : status_text(status, session.options.width));
}

}  // namespace

void add_status(CLI::App& app, Session& session) {
  auto& verb = add_verb(app, {"status", kForStudents, "What the unit asks for, and what is done",
                              "./gradlab status\n  ./gradlab status --page ada.html --name Ada"});
  auto options = std::make_shared<StatusOptions>();
  verb.add_option("--page", options->page, "write a page to hand in, and its JSON beside it")
      ->type_name("FILE");
  verb.add_option("--name", options->name, "whose page it is")->type_name("NAME");
  verb.add_flag("--json", options->json, "print JSON instead of the text");
  verb.callback([&session, options] { show(*options, session); });
}

}  // namespace gradlab::cli
