// What was odd about a file, in words.
#include <fmt/format.h>

#include "training_log/number.hpp"
#include "training_log/reading.hpp"

namespace gradlab::training_log {
namespace {

std::string lines_text(std::uint64_t count) {
  return fmt::format("{} line{}", counted(static_cast<long long>(count)), count == 1 ? "" : "s");
}

}  // namespace

void Reading::note_oddities() {
  auto& notes = report_.notes;
  const Oddities& odd = assembler_->oddities();
  const auto note = [&](std::uint64_t count, const std::string& text) {
    if (count > 0) notes.push_back(text);
  };
  note(torn_, fmt::format("the last line is cut off (line {}); it was left out", line_));
  note(state_ && state_->is_inside_record() ? 1 : 0,
       "the file ends inside a record; it was left out");
  note(state_ && !state_->has_begun() ? 1 : 0,
       "one JSON object without a log_history: no log of steps");
  note(long_lines_, fmt::format("{} longer than 1 MiB, skipped", lines_text(long_lines_)));
  note(odd.went_back,
       fmt::format("steps go back {} (first from {} to {}): read as a resumed or a new run",
                   odd.went_back == 1 ? "once" : fmt::format("{} times", odd.went_back),
                   odd.back_from, odd.back_to));
  note(odd.clock_back, fmt::format("the clock goes back at {}; steps are taken in the file's order",
                                   lines_text(odd.clock_back)));
  note(odd.merged, fmt::format("{} told of a step once more (several ranks?) and count once",
                               lines_text(odd.merged)));
  note(odd.conflicting,
       fmt::format("{} disagree with the first about loss or norm, from step {} on",
                   lines_text(odd.conflicting), odd.first_conflict));
  note(odd.late, fmt::format("{} came again later and were left out", lines_text(odd.late)));
  note(odd.unnumbered,
       fmt::format("{} hold no step number; they were counted", lines_text(odd.unnumbered)));
  note(report_.runs.size() > 1 ? 1 : 0,
       fmt::format("{} runs in one file", report_.runs.size() + report_.more_runs));
  note(report_.more_runs, fmt::format("only the first {} runs are kept", Report::kMostRuns));
  note(bad_means_, fmt::format("{} hold a running mean that is not finite: a norm earlier in that "
                               "epoch was inf; the values themselves count",
                               lines_text(bad_means_)));
  if (report_.runs.empty()) return;
  if (!options_.analyse) return;  // the rest is about series, which were not kept
  const Run& run = *report_.longest();
  if (run.scale.empty() && !run.has_skips) {
    notes.emplace_back(
        "the log holds neither loss scale nor skips: overflows cannot be told from it");
  }
  if (facts_after_) {
    notes.emplace_back(
        "this format prints the scale after update(); the one used is taken from the line before");
  }
  if (run.norm.empty()) notes.emplace_back("the log holds no gradient norm");
  if (run.loss.empty()) notes.emplace_back("the log holds no loss");
}

const Run* Report::longest() const {
  const Run* found = nullptr;
  for (const auto& run : runs) {
    if (found == nullptr || run->lines > found->lines) found = run.get();
  }
  return found;
}

std::vector<Finding> Report::all() const {
  std::vector<Finding> findings;
  for (const auto& run : runs) {
    findings.insert(findings.end(), run->findings.begin(), run->findings.end());
  }
  rank(findings);
  return findings;
}

}  // namespace gradlab::training_log
