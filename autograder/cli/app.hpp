// What every verb is written with. A verb is one file that exports add_<verb>: it adds a subcommand
// by add_verb, its options, and a callback that prints and sets
// session.exit_status. Only this room prints and exits.
#pragma once

#include <stdexcept>
#include <string>

#include "cli/workspace.hpp"

namespace CLI {
class App;  // its header is for the verbs alone: 100 kB of code in each file that includes it
}

namespace gradlab::cli {

inline constexpr int kDone = 0;         // also when a hand-in earned nothing
inline constexpr int kCheckFailed = 1;  // `check` and `doctor`: something is wrong with the work
inline constexpr int kUsage = 2;        // the command line, or a file the user named
inline constexpr int kGraderFault = 3;  // never the student's fault

// What happened and what to do; exit status 2. The wordings are in messages.hpp.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The same with exit status 3: the grader itself, its build, its set-up.
class GraderFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How to write to this user.
struct Options {
  bool terminal = false;  // stdout is one: progress may be drawn
  bool colour = false;    // a terminal, not dumb, and no NO_COLOR
  int width = 80;         // of COLUMNS or the terminal, 80 elsewhere; 40 to 120
};
Options options_of_environment();

struct Session {
  Options options;
  Workspace workspace;  // finds its root on first use, so that --help works anywhere
  int exit_status = kDone;
};

// Headings of --help.
inline constexpr char kForStudents[] = "For students";
inline constexpr char kForInstructors[] = "For instructors";
inline constexpr char kForAuthors[] = "For lab authors";

using Verb = void (*)(CLI::App& app, Session& session);

// A subcommand as all of them look. Use this, not app.add_subcommand: CLI11 is in headers alone,
// and a file that makes an App compiles all of it again.
struct VerbText {
  const char* name;
  const char* group;        // kForStudents, …
  const char* description;  // one line
  const char* example;      // a command line or more
};
CLI::App& add_verb(CLI::App& app, const VerbText& text);

// To stdout; a reader that went away ends the process quietly. No new line is added.
void print(const std::string& text);
// For a verb whose work is not what it prints: it ends its batch though nobody reads on.
void go_on_without_reader();
// To stderr, with a new line: what is not the result, such as "building the clipping lab".
void note(const std::string& line);

// Puts what an exception means on stderr and returns the exit status. For main, and for a verb that
// goes on after a fault.
int tell(const std::exception& error);

// What two verbs print.
void show_list(const Session& session);
void show_hint(const Session& session, const std::string& lab_and_task);  // one more of them

void add_list(CLI::App& app, Session& session);
void add_start(CLI::App& app, Session& session);
void add_reset(CLI::App& app, Session& session);
void add_where(CLI::App& app, Session& session);
void add_what(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_hint(CLI::App& app, Session& session);
void add_watch(CLI::App& app, Session& session);
void add_debug(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_status(CLI::App& app, Session& session);
void add_closed_book(CLI::App& app, Session& session);
void add_attacks(CLI::App& app, Session& session);
void add_grade(CLI::App& app, Session& session);
void add_replay(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_drill(CLI::App& app, Session& session);
void add_log(CLI::App& app, Session& session);
void add_new(CLI::App& app, Session& session);
void add_test(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);

}  // namespace gradlab::cli
