// Known mistakes in which records of a log make a finding.
#include "common.hpp"

namespace gradlab::event_log_bugs {
namespace {

// The log with every record that `is_overflow` as a skipped one, read rightly.
template <bool (*is_overflow)(const Record&)>
std::vector<Finding> skipped_if(const Log& log) {
  Log other = log;
  for (auto& record : other) {
    record.skipped = record.scale && is_overflow(record);
  }
  return right_findings(other);
}

bool changes_the_scale(const Record& record) { return record.scale != record.scale_after; }

std::vector<Finding> each_skip_by_itself(const Log& log) {
  std::vector<Finding> findings;
  for (const auto& found : right_findings(log)) {
    const bool is_row = found.cause != Cause::kNotSkipped;
    for (int64_t i = 0; i < (is_row ? found.records : 1); ++i) {
      findings.push_back(found);
      if (is_row) findings.back().first_step += i;
      if (is_row) findings.back().records = 1;
    }
  }
  return findings;
}

std::vector<Finding> loses_the_last_row(const Log& log) {
  auto findings = right_findings(log);
  if (!log.empty() && log.back().skipped) findings.pop_back();
  return findings;
}

std::vector<Finding> loses_one_of_the_last_row(const Log& log) {
  auto findings = right_findings(log);
  if (!log.empty() && log.back().skipped && findings.back().records > 1) --findings.back().records;
  return findings;
}

std::vector<Finding> only_the_first(const Log& log) {
  auto findings = right_findings(log);
  if (findings.size() > 1) findings.resize(1);
  return findings;
}

std::vector<Finding> the_last_first(const Log& log) {
  const auto findings = right_findings(log);
  return {findings.rbegin(), findings.rend()};
}

// Where in the log a step stands.
size_t place_of(const Log& log, int64_t step) {
  size_t at = 0;
  while (at < log.size() && log[at].step != step) ++at;
  return at;
}

std::vector<Finding> places_for_steps(const Log& log) {
  auto findings = right_findings(log);
  for (auto& found : findings) {
    found.first_step = static_cast<int64_t>(place_of(log, found.first_step));
  }
  return findings;
}

std::vector<Finding> steps_for_records(const Log& log) {
  auto findings = right_findings(log);
  for (auto& found : findings) {
    const auto last = place_of(log, found.first_step) + static_cast<size_t>(found.records) - 1;
    found.records = log[last].step - found.first_step + 1;
  }
  return findings;
}

bool is_the_next_step(const Log& log, size_t i) {
  return log[i].skipped && log[i].step == log[i - 1].step + 1;
}

std::vector<Finding> one_record_too_few(const Log& log) {
  auto findings = right_findings(log);
  for (auto& found : findings) --found.records;
  return findings;
}

std::vector<Finding> the_step_after(const Log& log) {
  auto findings = right_findings(log);
  for (auto& found : findings) ++found.first_step;
  return findings;
}

std::vector<Finding> only_overflows(const Log& log) {
  auto findings = right_findings(log);
  std::erase_if(findings, [](const Finding& found) { return found.cause == Cause::kNotSkipped; });
  return findings;
}

std::vector<Finding> first_of_the_lost_only(const Log& log) {
  auto findings = right_findings(log);
  for (auto& found : findings) {
    if (found.cause == Cause::kNotSkipped) found.records = 1;
  }
  return findings;
}

std::vector<Finding> lost_are_diverged(const Log& log) {
  auto findings = right_findings(log);
  for (auto& found : findings) {
    if (found.cause != Cause::kNotSkipped) continue;
    found.cause = Cause::kDiverged;
    found.remedy = Remedy::kLowerRateOrLimit;
  }
  return findings;
}

std::vector<Finding> lost_where_the_loss_is_nan(const Log& log) {
  auto findings = right_findings(log);
  if (findings.empty() || findings.back().cause != Cause::kNotSkipped) return findings;
  auto& found = findings.back();
  ++found.first_step;
  if (--found.records == 0) findings.pop_back();
  return findings;
}

template <std::vector<Finding> (*read)(const Log&)>
bool add(const char* name, const char* belief, const char* hint, const Checks& caught_by) {
  return add_bug<Impl>({.name = name, .belief = belief, .hint = hint, .caught_by = caught_by},
                       with_findings(read));
}

Checks every_row() {
  return {"the_start_of_a_run",
          "growth_that_went_too_far",
          "a_bad_batch",
          "a_loss_that_is_not_finite",
          "growing_too_often",
          "a_run_that_diverged",
          "divergence_is_both_low_and_last",
          "not_finite_without_a_scaler",
          "steps_are_those_of_the_log",
          "whole_runs"};
}

[[maybe_unused]] const bool kAdded[] = {
    add<skipped_if<changes_the_scale>>(
        "growth_is_overflow", "where the scale changes there was an overflow",
        "For which two reasons does update() change the scale?",
        {"growth_alone_is_nothing", "growth_that_went_too_far", "a_bad_batch",
         "a_loss_that_is_not_finite", "growing_too_often", "a_run_that_diverged", "whole_runs"}),
    add<each_skip_by_itself>("each_skip_by_itself", "every skip has a cause of its own",
                             "The scale came down in steps. How many reasons had it?",
                             every_row() - "not_finite_without_a_scaler"),
    add<loses_the_last_row>(
        "loses_the_last_row", "a row of skips ends with a step that was taken",
        "What does your loop do when the log ends inside a row?",
        {"growing_too_often", "a_run_that_diverged", "divergence_is_both_low_and_last",
         "steps_are_those_of_the_log", "whole_runs"}),
    add<loses_one_of_the_last_row>("loses_one_of_the_last_row",
                                   "the row ends one before the end of the log",
                                   "Which record is the last that your loop counts?",
                                   {"a_run_that_diverged", "divergence_is_both_low_and_last",
                                    "steps_are_those_of_the_log", "whole_runs"}),
    add<only_the_first>("only_the_first", "a log has one thing to tell",
                        "Does your loop go on after its first finding?",
                        {"growing_too_often", "whole_runs"}),
    add<the_last_first>("the_last_first", "the newest finding comes first",
                        "In which order does the contract ask for them?",
                        {"growing_too_often", "whole_runs"}),
    add<places_for_steps>("places_for_steps", "a record's step is its place in the log",
                          "With which step does a log begin that was resumed?",
                          {"steps_are_those_of_the_log", "whole_runs"}),
    add<steps_for_records>("steps_for_records", "a finding covers steps, also those not in the log",
                           "Every tenth step is in the log. How many records are two of them?",
                           {"steps_are_those_of_the_log"}),
    add<read_with<right_judgement, is_the_next_step>>(
        "splits_rows_at_gaps", "one after another means that steps differ by 1",
        "Every tenth step is in the log. Which record comes after which?",
        {"steps_are_those_of_the_log"}),
    add<one_record_too_few>("one_record_too_few", "from the first to the last is their difference",
                            "How many records are 3, 4 and 5?", every_row()),
    add<the_step_after>("the_step_after", "the scale fell at the step after the overflow",
                        "In which record is skipped true?", every_row()),
    add<only_overflows>("only_overflows", "what was not skipped is no finding",
                        "inf went into the weights. Does nobody have to know?",
                        {"not_finite_without_a_scaler", "steps_are_those_of_the_log"}),
    add<first_of_the_lost_only>("first_of_the_lost_only",
                                "the step that broke the weights is the finding",
                                "Up to which record are the weights lost?",
                                {"not_finite_without_a_scaler", "steps_are_those_of_the_log"}),
    add<lost_are_diverged>("lost_are_diverged", "inf or NaN to the end means that it diverged",
                           "Was the batch skipped? What is in the weights, then?",
                           {"not_finite_without_a_scaler", "steps_are_those_of_the_log"}),
    add<lost_where_the_loss_is_nan>("lost_where_the_loss_is_nan",
                                    "weights are lost where the loss turns NaN",
                                    "Which step made the weights that this loss comes from?",
                                    {"not_finite_without_a_scaler", "steps_are_those_of_the_log"}),
};

}  // namespace
}  // namespace gradlab::event_log_bugs
