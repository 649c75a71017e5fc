// ./gradlab: reads the command line and hands over to a verb.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/messages.hpp"
#include "cli/words.hpp"

namespace {

using namespace gradlab::cli;

constexpr Verb kVerbs[] = {add_list,    add_start,  add_check,       add_watch,  add_hint,
                           add_where,   add_what,   add_debug,       add_reset,  add_run,
                           add_explain, add_status, add_closed_book, add_drill,  add_log,
                           add_grade,   add_replay, add_attacks,     add_doctor, add_new,
                           add_test,    add_bench};

// "Usage: ./gradlab check [OPTIONS] [LAB]": as it is typed, of a verb too.
class Words : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const bool verb = app->get_parent() != nullptr;
    return CLI::Formatter::make_usage(app, verb ? "./gradlab " + name : name);
  }
};

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const auto* option : verb.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// A word in the verb's place that is none, before CLI11 says something less helpful.
void refuse_unknown_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const auto names = names_of(app);
  if (std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    throw messages::unknown_verb(argv[1], nearest(argv[1], names));
  }
}

// The same for a verb's actions, `log show`.
void refuse_unknown_action(const CLI::App& app, int argc, char** argv) {
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const CLI::App* each) {
    return argc > 1 && each->get_name() == argv[1];
  });
  if (verb == verbs.end()) return;
  const auto names = names_of(**verb);
  if (names.empty() || (argc > 2 && argv[2][0] == '-')) return;
  const std::string word = argc > 2 ? argv[2] : "";
  if (std::find(names.begin(), names.end(), word) == names.end()) {
    throw messages::unknown_action(argv[1], word, nearest(word, names), names);
  }
}

// CLI11's errors in our words.
UsageError in_words(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const CLI::App* verb = &app;
  std::string name;
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = verb->get_subcommands()) {
    verb = chosen.front();
    name += (name.empty() ? "" : " ") + verb->get_name();
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto extra = app.remaining(true);
    const std::string word = extra.empty() ? argv[argc - 1] : extra.front();
    const std::string option = word.substr(0, word.find('='));
    return messages::unknown_option(name.empty() ? "gradlab" : name, word,
                                    nearest(option, options_of(*verb)));
  }
  return messages::bad_command_line(name, error.what());
}

int run(int argc, char** argv) {
  Session session;
  session.options = options_of_environment();
  CLI::App app{
      "gradlab teaches how to keep training numerically healthy, in C++ on LibTorch.\n"
      "It checks your answers in about a second, and grades a class.",
      "./gradlab"};
  app.formatter(std::make_shared<Words>());  // before the verbs, which take it over
  app.get_formatter()->column_width(26);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.set_version_flag("--version", std::string("gradlab ") + GRADLAB_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Begin with: ./gradlab start     Of one command: ./gradlab check --help\n"
      "Exit status: 0 done, 1 a check failed, 2 wrong use, 3 a fault of the grader");
  for (const Verb add : kVerbs) add(app, session);
  try {
    refuse_unknown_verb(app, argc, argv);
    refuse_unknown_action(app, argc, argv);
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) print(app.help());
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    print((chosen.empty() ? &app : chosen.front())->help());
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    throw in_words(app, error, argc, argv);
  }
  return session.exit_status;
}

// A closed stream's number would be given to the next file or pipe, and what is printed would land
// there.
void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_missing_streams();
  // A judge that died, or a reader that left, is told by write(). A handler that does nothing,
  // since the programs started from here would inherit that the signal is ignored.
  signal(SIGPIPE, [](int) {});
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return tell(error);
  }
}
