// ./gradlab drill: asks, checks, and remembers when to ask again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <random>

#include "cli/app.hpp"
#include "cli/drill_files.hpp"
#include "cli/drill_messages.hpp"
#include "cli/messages.hpp"
#include "cli/talk.hpp"
#include "drills/anki.hpp"
#include "drills/plan.hpp"
#include "drills/session.hpp"
#include "drills/stats.hpp"
#include "record/store.hpp"

namespace gradlab::cli {
namespace {

struct DrillOptions {
  std::string lab, write_to, read_from;
  std::size_t count = 0;  // 0: not asked for
  std::optional<std::uint64_t> seed;
  bool exam = false, due = false, stats = false, plain = false;
};

constexpr std::size_t kUsual = 10;

// A lab, as every command takes it, or a topic of imported drills.
std::string topic_of(const std::string& word, const std::vector<drills::Template>& all,
                     const Workspace& workspace) {
  const bool known =
      word.empty() || word == "own" ||
      std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.topic == word; });
  return known ? word : workspace.find_slug(word);
}

drills::Plan plan_of(const DrillOptions& options, const std::vector<drills::Template>& all,
                     const Session& session) {
  drills::Plan plan;
  plan.topic = topic_of(options.lab, all, session.workspace);
  // Short enough to be typed again.
  plan.seed = options.seed ? *options.seed : std::random_device()() % 1000000;
  plan.count = options.count > 0 ? options.count : options.due ? SIZE_MAX : kUsual;
  plan.exam = options.exam;
  plan.due = options.due;
  plan.in_need = !options.seed;
  return plan;
}

void say_keys(const drills::Plan& plan, std::size_t count, const DrillOptions& options) {
  const std::string keys =
      options.exam ? "s skips, q ends" : "an empty line or ? gives a hint, s skips, q ends";
  print(fmt::format("{} {}, seed {}: {}\n", count,
                    options.exam ? "questions as an exam" : "questions", plan.seed, keys));
}

void end(const drills::Tally& tally, const drills::Round& round, const DrillProgress& progress,
         const std::vector<drills::Template>& all, int width) {
  if (round.exam) {
    print(drills::exam_text(tally, round.questions, width));
  } else {
    print(tally.asked > 0 ? fmt::format("\n{} of {} right", tally.right, tally.asked)
                          : std::string("\nnothing answered"));
    print(tally.skipped > 0 ? fmt::format(", {} skipped\n", tally.skipped) : "\n");
  }
  const auto next = drills::next_due_text(all, progress.get(), progress.day());
  if (!next.empty()) print(fmt::format("{}: ./gradlab drill --due\n", next));
}

void drill(const DrillOptions& options, const Session& session) {
  const auto all = all_drills(session.workspace);
  auto plan = plan_of(options, all, session);
  auto progress = DrillProgress::to_write(session.workspace);
  plan.today = progress.day();
  const drills::Round round{drills::planned(all, plan, progress.get()), options.exam};
  if (round.questions.empty() && options.due) {
    const auto next = drills::next_due_text(all, progress.get(), plan.today);
    print(messages::nothing_is_due(plan.topic.empty() ? next : ""));
    return;
  }
  if (round.questions.empty()) throw messages::nothing_to_ask(plan.topic);
  say_keys(plan, round.questions.size(), options);
  const auto talk = talk_with(session, options.plain);
  const auto tally = drills::ask(
      round, talk, [&](const drills::Question& question, int grade, const std::string& mistake) {
        progress.note(question.name, grade, mistake);
      });
  end(tally, round, progress, all, talk.width);
}

void show_stats(const Session& session) {
  const auto progress = DrillProgress::to_read(session.workspace);
  print(drills::stats_text(all_drills(session.workspace), progress.get(), progress.day(),
                           std::min(session.options.width, 80)));
}

void export_cards(const DrillOptions& options, const Session& session) {
  const auto all = all_drills(session.workspace);
  const auto plan = plan_of(options, all, session);
  std::vector<drills::Question> cards;
  for (const auto* each : drills::candidates(all, plan)) {
    // What draws nothing is one card, however many are asked for.
    const std::size_t copies =
        each->kind == drills::Kind::kRecall ? 1 : std::max<std::size_t>(options.count, 1);
    for (std::size_t i = 0; i < copies; ++i) {
      cards.push_back(drills::make(*each, drills::seed_of(options.seed.value_or(0), "card", i)));
    }
  }
  if (cards.empty()) throw messages::nothing_to_ask(plan.topic);
  try {
    record::write_file(options.write_to, drills::anki_text(cards), record::Sync::kNo);
  } catch (const record::RecordError& error) {
    throw UsageError(error.what());
  }
  print(fmt::format("{}: {} cards. In Anki: File, Import.\n", options.write_to, cards.size()));
}

void act(const DrillOptions& options, const Session& session) {
  const int asked = (options.exam ? 1 : 0) + (options.due ? 1 : 0) + (options.stats ? 1 : 0) +
                    (options.write_to.empty() ? 0 : 1) + (options.read_from.empty() ? 0 : 1);
  if (asked > 1) throw messages::one_thing_at_a_time();
  if (options.stats) return show_stats(session);
  if (!options.write_to.empty()) return export_cards(options, session);
  if (options.read_from.empty()) return drill(options, session);
  const auto count = import_drills(session.workspace, options.read_from);
  print(fmt::format("{} drills kept. Ask them with: ./gradlab drill own\n", count));
}

}  // namespace

void add_drill(CLI::App& app, Session& session) {
  auto& verb = add_verb(app, {"drill", kForStudents, "Short questions until it sticks",
                              "./gradlab drill clipping --count 5\n  ./gradlab drill --due"});
  auto options = std::make_shared<DrillOptions>();
  verb.add_option("LAB", options->lab, "a lab's drills alone, or own: those you imported")
      ->type_name("");
  verb.add_option("--count", options->count, "how many questions (10), or cards of each kind")
      ->check([](const std::string& text) {
        const int count = atoi(text.c_str());
        return count >= 1 && count <= 1000 ? std::string() : text + " is not from 1 to 1000";
      })
      ->type_name("N");
  verb.add_option("--seed", options->seed, "the same questions again")->type_name("S");
  verb.add_flag("--exam", options->exam, "no hints, and the score at the end");
  verb.add_flag("--due", options->due, "what is due today");
  verb.add_flag("--stats", options->stats, "seen, right and due, by topic");
  verb.add_option("--export", options->write_to, "write cards for Anki to this file")
      ->type_name("FILE");
  verb.add_option("--import", options->read_from, "add the drills of a drills.toml")
      ->type_name("FILE");
  verb.add_flag("--plain", options->plain, "no colours");
  verb.callback([&session, options] { act(*options, session); });
}

}  // namespace gradlab::cli
