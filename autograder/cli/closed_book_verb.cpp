// ./gradlab closed-book: a lab once more, from memory: the contract and nothing else, on the clock.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <sstream>

#include "cli/closed_book.hpp"
#include "cli/closed_book_messages.hpp"
#include "cli/files.hpp"
#include "cli/messages.hpp"
#include "cli/own_check.hpp"

namespace gradlab::cli {
namespace {

namespace fs = std::filesystem;

struct ClosedBookOptions {
  std::string lab;
  bool check = false, give_up = false;
};

// The skeleton without its comments, some of which help.
std::string bare(const std::string& skeleton) {
  std::istringstream in(skeleton);
  std::string text;
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string::npos || line.compare(first, 2, "//") != 0) text += line + "\n";
  }
  return text;
}

void begin(const Workspace& workspace, const Manifest& lab) {
  auto book = ClosedBook::read(workspace);
  const auto file = closed_book_file(workspace, lab.slug);
  if (book.open.contains(lab.slug)) {
    throw messages::book_is_open_already(lab.slug, workspace.shown(file));
  }
  const auto skeleton = workspace.skeleton(lab.slug);
  if (!fs::exists(skeleton)) throw messages::missing_part(workspace.shown(skeleton), "closed-book");
  const auto text = bare(read_whole(skeleton));
  if (!write_new_file(file, text)) {
    note(fmt::format("The last attempt is kept as {}.", workspace.shown(move_to_backup(file))));
    write_new_file(file, text);
  }
  book.open[lab.slug] = std::time(nullptr);
  book.write(workspace);
  print(messages::book_begins(lab.slug, workspace.shown(file),
                              workspace.shown(workspace.contract(lab.slug)), lab.minutes));
}

double minutes_since(std::int64_t started) {
  const auto seconds = std::time(nullptr) - started;
  if (seconds < 0) note(messages::book_clock_went_back());
  return seconds < 0 ? 0 : static_cast<double>(seconds) / 60;
}

void check(const Manifest& lab, Session& session) {
  const auto& workspace = session.workspace;
  auto book = ClosedBook::read(workspace);
  const auto open = book.open.find(lab.slug);
  if (open == book.open.end()) throw messages::no_book_is_open(lab.slug);
  const auto file = closed_book_file(workspace, lab.slug).string();
  const double minutes = minutes_since(open->second);
  OwnCheck::look(lab, file);
  OwnCheck check(session, lab);
  const auto record = check.run({file, kPublicSeed, std::nullopt, workspace.shown(file)});
  print(render::render_check(record, check.view(file, record)));
  if (!record.score) {  // the grader's fault: the attempt stays open
    session.exit_status = kGraderFault;
    return;
  }
  book.results.push_back({lab.slug, open->second, minutes, *record.score, record.max_score,
                          record.files.empty() ? "" : record.files.front().sha256});
  book.open.erase(open);
  book.write(workspace);
  print(messages::book_result(lab.slug, *record.score, record.max_score, minutes, lab.minutes));
  if (*record.score < record.max_score) session.exit_status = kCheckFailed;
}

void give_up(const Workspace& workspace, const Manifest& lab) {
  auto book = ClosedBook::read(workspace);
  if (book.open.erase(lab.slug) == 0) throw messages::no_book_is_open(lab.slug);
  book.write(workspace);
  print(messages::book_given_up(lab.slug, workspace.shown(closed_book_file(workspace, lab.slug))));
}

void list(const Workspace& workspace) {
  const auto book = ClosedBook::read(workspace);
  for (const auto& each : book.results) {
    print(messages::book_result(each.lab, each.score, each.max_score, each.minutes,
                                workspace.find_lab(each.lab).minutes));
  }
  for (const auto& [slug, since] : book.open) {
    print(fmt::format("{}: begun {:.0f} min ago, not checked yet\n", slug, minutes_since(since)));
  }
  if (book.results.empty() && book.open.empty()) {
    print("Nothing was written from memory yet. Begin with: ./gradlab closed-book clipping\n");
  }
}

void act(const ClosedBookOptions& options, Session& session) {
  if (options.lab.empty()) {
    if (options.check || options.give_up) throw messages::book_without_lab();
    return list(session.workspace);
  }
  const Manifest lab = session.workspace.find_lab(options.lab);
  if (options.check) return check(lab, session);
  if (options.give_up) return give_up(session.workspace, lab);
  begin(session.workspace, lab);
}

}  // namespace

void add_closed_book(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"closed-book", kForStudents, "Write a lab once more, from memory, on the clock",
            "./gradlab closed-book clipping\n  ./gradlab closed-book clipping --check"});
  auto options = std::make_shared<ClosedBookOptions>();
  verb.add_option("LAB", options->lab, "the lab; without it: results, and what is begun")
      ->type_name("");
  auto* check = verb.add_flag("--check", options->check, "check it, once, and keep the result");
  verb.add_flag("--give-up", options->give_up, "end it without a result")->excludes(check);
  verb.callback([&session, options] { act(*options, session); });
}

}  // namespace gradlab::cli
