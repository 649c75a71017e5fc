// Read a log: what happened, and what to change. The truth is the simulated run's; what it means
// and what to do about it are training_log's catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "drills/log_run.hpp"
#include "drills/templates.hpp"
#include "training_log/finding.hpp"

namespace gradlab::drills::templates {
namespace {

constexpr int kLines = 10;

void show(Question& question, const LogRun& run) {
  question.code = shown_lines(run, run.event - 3, kLines, true);
  question.code.push_back(
      fmt::format("(max_norm {}; {} steps in all)", run.max_norm, run.steps.size()));
}

// Whether a log of `cause` shows the other one too, or cannot be told from it in ten lines.
bool is_seen_beside(const std::string& cause, const std::string& other) {
  static const std::vector<std::pair<std::string, std::string>> pairs = {
      {"norm_scaled", "single_overflow"},
      {"scale_logged_after", "single_overflow"},
      {"schedule_on_skips", "single_overflow"},
      {"norm_scaled", "clip_always"},
      {"clip_always", "norm_scaled"}};
  return std::find(pairs.begin(), pairs.end(), std::pair(cause, other)) != pairs.end();
}

// The right cause first, then three others.
std::vector<std::string> four_causes(const std::string& right, Random& random) {
  auto others = drills::log_causes();
  std::erase_if(others, [&](const std::string& other) {
    return other == right || is_seen_beside(right, other);
  });
  random.shuffle(others);
  others.resize(3);
  others.insert(others.begin(), right);
  return others;
}

std::string unlike(const std::string& cause) {
  const std::string meaning = training_log::diagnosis(cause).meaning;
  return "fits another log: " + meaning.substr(0, meaning.find_last_not_of('.') + 1);
}

Question what_happened(const std::string& cause, Random& random) {
  std::vector<Choices::Option> options;
  for (const auto& each : four_causes(cause, random)) {
    options.push_back({training_log::diagnosis(each).title, {}, each == cause ? "" : unlike(each)});
  }
  auto q = ask_choice("What does this log show?", std::move(options));
  show(q, log_run(cause, random));
  q.hint = "Look at norm and scale of the skipped lines, and of the lines after them.";
  q.why = training_log::diagnosis(cause).meaning;
  q.read = "handouts/reading_logs.md";
  return q;
}

Question what_to_change(Random& random) {
  const auto cause = random.pick(drills::log_causes());
  std::vector<Choices::Option> options;
  for (const auto& each : four_causes(cause, random)) {
    const std::string remedy = training_log::diagnosis(each).change_first.front();
    const bool same = std::any_of(options.begin(), options.end(),
                                  [&](const auto& option) { return option.text == remedy; });
    if (!same) options.push_back({remedy, {}, each == cause ? "" : unlike(each)});
  }
  auto q = ask_choice("What do you do first?", std::move(options));
  show(q, log_run(cause, random));
  q.hint = "First say what the log shows.";
  q.why = fmt::format("{}. {}", training_log::diagnosis(cause).title,
                      training_log::diagnosis(cause).meaning);
  q.read = "handouts/reading_logs.md";
  return q;
}

}  // namespace

std::vector<Template> log_causes() {
  std::vector<Template> all;
  for (const auto& cause : drills::log_causes()) {
    all.push_back({"event_log.shows_" + cause, "event_log", Kind::kLog,
                   [cause](Random& random) { return what_happened(cause, random); }});
  }
  all.push_back({"event_log.what_to_change", "event_log", Kind::kLog, what_to_change});
  return all;
}

}  // namespace gradlab::drills::templates
