#include "cli/attack_outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/words.hpp"
#include "render/terminal.hpp"
#include "render/words.hpp"

namespace gradlab::cli {
namespace {

constexpr char kNoHandIn[] = "no hand-in";
constexpr size_t kLongest = 100;  // of what a hand-in says that it reached

std::string in_short(const std::optional<record::Verdict>& verdict, int points) {
  if (!verdict) return kNoHandIn;
  return fmt::format("{}, {}", render::in_words(*verdict), points);
}

int points_of(const Attack& attack, const Manifest& lab) {
  int points = 0;
  for (const int id : attack.keeps) {
    if (const auto* task = lab.task(id)) points += task->max_points();
  }
  return points;
}

// Everything that the student is told.
std::string what_is_read(const Record& record) {
  std::string text = record.message;
  for (const auto& task : record.tasks) {
    for (const auto& check : task.checks) text += "\n" + check.message;
  }
  for (const auto& found : record.diagnostics) text += "\n" + found.message + " " + found.hint;
  for (const auto& note : record.notes) text += "\n" + note;
  return text;
}

bool is_kept(const Attack& attack, int task) {
  return std::find(attack.keeps.begin(), attack.keeps.end(), task) != attack.keeps.end();
}

void compare(const Attack& attack, const Record& record, AttackOutcome& outcome) {
  if (record.verdict != attack.verdict) outcome.differs.emplace_back("the verdict differs");
  if (!record.score) outcome.differs.push_back("no score: " + record.message);
  for (const auto& task : record.tasks) {
    const int deserved = is_kept(attack, task.id) ? task.max_points : 0;
    if (task.points == deserved) continue;
    outcome.differs.push_back(
        fmt::format("task {} has {} points and deserves {}", task.id, task.points, deserved));
  }
  // What got hold of something says so, on its output or in an exception's words.
  const std::string all = record.student_output + what_is_read(record);
  if (const auto at = all.find("REACHED "); at != std::string::npos) {
    outcome.differs.push_back("it " + all.substr(at, std::min(all.find('\n', at) - at, kLongest)));
  }
  if (what_is_read(record).find(attack.reads) == std::string::npos) {
    outcome.differs.push_back(fmt::format("the student does not read \"{}\"", attack.reads));
  }
}

}  // namespace

AttackOutcome outcome_of(const Attack& attack, const Manifest& lab,
                         const std::vector<Record>& records,
                         const std::vector<std::string>& notes) {
  AttackOutcome outcome{attack.name, attack.promise, attack.lab, "", kNoHandIn, 0, {}, ""};
  outcome.expected = in_short(attack.verdict, points_of(attack, lab));
  const auto record = std::find_if(records.begin(), records.end(), [&](const Record& each) {
    return each.student == attack.student;
  });
  if (record != records.end()) {
    outcome.got = in_short(record->verdict, record->score.value_or(0));
    outcome.seconds = record->timing.total_s;
  }
  if (attack.verdict && record == records.end()) {
    outcome.differs.emplace_back("it was not graded");
  } else if (attack.verdict) {
    compare(attack, *record, outcome);
  } else if (record != records.end()) {
    outcome.differs.emplace_back("it was taken for a hand-in");
  } else if (std::none_of(notes.begin(), notes.end(), [&](const std::string& note) {
               return note.find(attack.reads) != std::string::npos;
             })) {
    outcome.differs.push_back(fmt::format("no note says \"{}\"", attack.reads));
  }
  return outcome;
}

AttackOutcome not_run(const Attack& attack, const std::string& why) {
  return {attack.name, attack.promise, attack.lab, "", "not run", 0, {}, why};
}

std::string render_outcomes(const std::vector<AttackOutcome>& outcomes, const OutcomeView& view) {
  const render::Paint paint(view.colour);
  constexpr int kState = 17;
  const int name_width = view.width - 2 * kState - 14;
  std::string text = paint.dim(fmt::format("        {} {} {}     s\n", padded("attack", name_width),
                                           padded("expected", kState), padded("got", kState)));
  size_t held = 0, ran = 0;
  std::vector<std::string> promises;
  for (const auto& outcome : outcomes) {
    if (std::find(promises.begin(), promises.end(), outcome.promise) == promises.end()) {
      promises.push_back(outcome.promise);
    }
  }
  for (const auto& promise : promises) {
    text += paint.strong(promise) + "\n";
    for (const auto& outcome : outcomes) {
      if (outcome.promise != promise) continue;
      if (!outcome.not_run.empty()) {
        text += fmt::format("  -     {} not run: {}\n", padded(outcome.name, name_width),
                            outcome.not_run);
        continue;
      }
      ++ran;
      held += outcome.differs.empty() ? 1 : 0;
      const auto row = fmt::format("{} {} {} {:5.1f}\n", padded(outcome.name, name_width),
                                   padded(outcome.expected, kState), padded(outcome.got, kState),
                                   outcome.seconds);
      text += (outcome.differs.empty() ? paint.good("  ok    ") : paint.bad("  LOST  ")) + row;
      for (const auto& line : outcome.differs) {
        text += wrapped(render::printable(line), view.width, 8);
      }
    }
  }
  return text +
         (held == ran
              ? fmt::format("{} of {} held: every promise is kept on this machine\n", held, ran)
              : fmt::format("{} of {} held; do not grade strangers' code here until the "
                            "rest does: handouts/instructor/security.md\n",
                            held, ran));
}

nlohmann::ordered_json to_json(const std::vector<AttackOutcome>& outcomes) {
  auto rows = nlohmann::ordered_json::array();
  bool holds = true;
  for (const auto& outcome : outcomes) {
    nlohmann::ordered_json row = {{"name", outcome.name},      {"promise", outcome.promise},
                                  {"lab", outcome.lab},        {"expected", outcome.expected},
                                  {"got", outcome.got},        {"seconds", outcome.seconds},
                                  {"differs", outcome.differs}};
    if (!outcome.not_run.empty()) row["not_run"] = outcome.not_run;
    rows.push_back(std::move(row));
    holds = holds && outcome.differs.empty();
  }
  return {{"holds", holds}, {"attacks", std::move(rows)}};
}

}  // namespace gradlab::cli
