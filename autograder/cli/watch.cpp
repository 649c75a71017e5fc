// ./gradlab watch: checks a lab whenever its file is saved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"
#include "cli/messages.hpp"
#include "cli/watcher.hpp"

namespace gradlab::cli {

void add_watch(CLI::App& app, Session& session) {
  auto& verb = add_verb(app, {"watch", kForStudents, "Check a lab each time you save its file",
                              "./gradlab watch clipping\n"
                              "Keys: h one more hint, n next task, r once more, o the handout,\n"
                              "l the labs, d what changed since the run before, q the end.\n"
                              "With --plain each is a line of its own."});
  auto settings = std::make_shared<Watcher::Settings>();
  verb.add_option("LAB", settings->slug, "this lab alone; else whichever you save");
  verb.add_flag("--plain", settings->plain, "line by line, for screen readers and pipes");
  verb.add_flag("--poll", settings->polling,
                "look at the file three times a second: where saving goes unnoticed");
  verb.callback([settings, &session] {
    const auto& workspace = session.workspace;
    settings->only = !settings->slug.empty();
    settings->slug =
        settings->only ? workspace.find_slug(settings->slug) : workspace.last_changed_lab();
    if (!std::filesystem::exists(workspace.work_file(settings->slug))) {
      throw messages::not_started(settings->slug);
    }
    settings->plain = settings->plain || !session.options.terminal;
    Watcher(session, *settings).run();
  });
}

}  // namespace gradlab::cli
