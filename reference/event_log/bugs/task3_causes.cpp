// Known mistakes in the judgement of a row of skips: its cause, and what to change.
#include "common.hpp"

namespace gradlab::event_log_bugs {
namespace {

bool is_loss_finite(const Row& row) { return std::isfinite(row.front().loss); }
bool is_low(const Row& row) { return *row.back().scale_after < 1; }

Finding low_means_diverged(const Row& row) {
  return is_low(row) ? row.diverged() : right_judgement(row);
}

Finding last_means_diverged(const Row& row) {
  return row.is_last() ? row.diverged() : right_judgement(row);
}

Finding ten_skips_mean_diverged(const Row& row) {
  return row.end - row.first >= 10 ? row.diverged() : right_judgement(row);
}

Finding used_scale_below_one(const Row& row) {
  if (row.is_last() && is_low(row) && *row.back().scale >= 1) {
    return right_judgement({row.log, row.first, row.end - 1, row.since}).cause ==
                   Cause::kScaleTooHigh
               ? row.scale_too_high()
               : row.bad_batch();
  }
  return right_judgement(row);
}

Finding never_diverged(const Row& row) {
  if (!is_loss_finite(row) || row.scale_had_held()) return row.bad_batch();
  return row.scale_too_high();
}

Finding loss_before_divergence(const Row& row) {
  return is_loss_finite(row) ? right_judgement(row) : row.bad_batch();
}

Finding blames_the_scale(const Row& row) {
  if (row.is_last() && is_low(row)) return row.diverged();
  return is_loss_finite(row) ? row.scale_too_high() : row.bad_batch();
}

Finding blames_the_batch(const Row& row) {
  return right_judgement(row).cause == Cause::kDiverged ? row.diverged() : row.bad_batch();
}

Finding loss_says_nothing(const Row& row) {
  if (row.is_last() && is_low(row)) return row.diverged();
  return row.scale_had_held() ? row.bad_batch() : row.scale_too_high();
}

Finding compares_the_scale_after(const Row& row) {
  if (row.is_last() && is_low(row)) return row.diverged();
  return !is_loss_finite(row) || row.first > 0 ? row.bad_batch() : row.scale_too_high();
}

Finding compares_with_every_scale_before(const Row& row) {
  if (row.is_last() && is_low(row)) return row.diverged();
  bool had_held = false;
  for (size_t i = 0; i < row.first; ++i) {
    const Record& record = row.log[i];
    had_held = had_held || (!record.skipped && *record.scale >= *row.front().scale);
  }
  return !is_loss_finite(row) || had_held ? row.bad_batch() : row.scale_too_high();
}

Finding looks_at_the_last_loss(const Row& row) {
  if (row.is_last() && is_low(row)) return row.diverged();
  const bool is_bad = !std::isfinite(row.back().loss) || row.scale_had_held();
  return is_bad ? row.bad_batch() : row.scale_too_high();
}

Finding only_nan_is_not_finite(const Row& row) {
  if (row.is_last() && is_low(row)) return row.diverged();
  const bool is_bad = std::isnan(row.front().loss) || row.scale_had_held();
  return is_bad ? row.bad_batch() : row.scale_too_high();
}

Finding never_too_often(const Row& row) {
  auto found = right_judgement(row);
  if (found.cause == Cause::kScaleTooHigh) found.remedy = Remedy::kNothing;
  return found;
}

Finding always_a_longer_interval(const Row& row) {
  auto found = right_judgement(row);
  if (found.cause == Cause::kScaleTooHigh) found.remedy = Remedy::kLongerGrowthInterval;
  return found;
}

Finding soon_after_the_start(const Row& row) {
  return right_judgement({row.log, row.first, row.end, row.since ? *row.since : row.first});
}

Finding ten_is_few(const Row& row) {
  auto found = right_judgement(row);
  const bool is_ten = row.since && *row.since == 10;
  if (found.cause == Cause::kScaleTooHigh && is_ten) found.remedy = Remedy::kLongerGrowthInterval;
  return found;
}

Finding tries_again(const Row& row) {
  auto found = right_judgement(row);
  if (found.cause == Cause::kDiverged) found.remedy = Remedy::kNothing;
  return found;
}

Finding restores_and_goes_on(const Row& row) {
  auto found = right_judgement(row);
  if (found.cause == Cause::kDiverged) found.remedy = Remedy::kRestoreCheckpoint;
  return found;
}

Finding nothing_for_a_batch(const Row& row) {
  auto found = right_judgement(row);
  if (found.cause == Cause::kBadBatch) found.remedy = Remedy::kNothing;
  return found;
}

Finding lower_rate_for_a_batch(const Row& row) {
  auto found = right_judgement(row);
  if (found.cause == Cause::kBadBatch) found.remedy = Remedy::kLowerRateOrLimit;
  return found;
}

template <Finding (*judge)(const Row&)>
bool add(const char* name, const char* belief, const char* hint, const Checks& caught_by) {
  return add_bug<Impl>({.name = name, .belief = belief, .hint = hint, .caught_by = caught_by},
                       with_findings(read_with<judge>));
}

Checks all_batches() {
  return {"a_bad_batch",
          "a_loss_that_is_not_finite",
          "growing_too_often",
          "divergence_is_both_low_and_last",
          "steps_are_those_of_the_log",
          "whole_runs"};
}

[[maybe_unused]] const bool kAdded[] = {
    add<low_means_diverged>("low_means_diverged", "a scale below 1 is the end",
                            "The log goes on after it. What did the next records do?",
                            {"divergence_is_both_low_and_last"}),
    add<last_means_diverged>(
        "last_means_diverged", "a log that ends in a skip ended by it",
        "A log can be cut anywhere. How far had the scale come down?",
        {"divergence_is_both_low_and_last", "growing_too_often", "whole_runs"}),
    add<ten_skips_mean_diverged>(
        "ten_skips_mean_diverged", "so many skips in a row are the end",
        "How many skips does it take from 65536 to 64?",
        {"the_start_of_a_run", "growing_too_often", "divergence_is_both_low_and_last"}),
    add<used_scale_below_one>("used_scale_below_one",
                              "divergence shows in the scale that was used last",
                              "Which of the two scales of the last record does the rule name?",
                              {"a_run_that_diverged", "steps_are_those_of_the_log"}),
    add<never_diverged>("never_diverged", "every overflow has its scale or its batch",
                        "The log ends there, and no scale was small enough. Would another batch "
                        "have helped?",
                        {"a_run_that_diverged", "steps_are_those_of_the_log", "whole_runs"}),
    add<loss_before_divergence>("loss_before_divergence",
                                "a loss that is not finite is always the batch's",
                                "In which order do the rules apply?", {"a_run_that_diverged"}),
    add<blames_the_scale>("blames_the_scale", "an overflow means that the scale is too high",
                          "The record before was taken at the same scale. What is new?",
                          all_batches() - "a_loss_that_is_not_finite"),
    add<blames_the_batch>(
        "blames_the_batch", "a batch that overflows is a bad batch",
        "Had a step ever been taken at that scale?",
        {"the_start_of_a_run", "growth_that_went_too_far", "a_loss_that_is_not_finite",
         "growing_too_often", "divergence_is_both_low_and_last", "steps_are_those_of_the_log",
         "whole_runs"}),
    add<loss_says_nothing>("loss_says_nothing", "an overflow is always one of the gradients",
                           "The scale multiplies the loss. Can it make the loss itself inf?",
                           {"a_loss_that_is_not_finite"}),
    add<compares_the_scale_after>("compares_the_scale_after",
                                  "the record before ended at this scale, so it had held",
                                  "Was the step before taken at its scale_after?",
                                  {"growth_that_went_too_far", "growing_too_often", "whole_runs"}),
    add<compares_with_every_scale_before>(
        "compares_with_every_scale_before", "a scale that held once holds",
        "With which one of the records before does the contract compare?", {"growing_too_often"}),
    add<looks_at_the_last_loss>("looks_at_the_last_loss", "the last skip of a row tells the cause",
                                "Which record began it?", {"a_loss_that_is_not_finite"}),
    add<only_nan_is_not_finite>("only_nan_is_not_finite", "std::isnan finds every bad loss",
                                "What does std::isnan say of inf?", {"a_loss_that_is_not_finite"}),
    add<never_too_often>("never_too_often", "the scaler mends itself, so nothing is to be changed",
                         "One step in three is lost to growth. What would you set otherwise?",
                         {"growing_too_often"}),
    add<always_a_longer_interval>(
        "always_a_longer_interval", "every overflow of the scale is one too many",
        "How many steps of 2000 does one overflow cost?",
        {"the_start_of_a_run", "growth_that_went_too_far", "a_loss_that_is_not_finite",
         "growing_too_often", "divergence_is_both_low_and_last", "steps_are_those_of_the_log",
         "whole_runs"}),
    add<soon_after_the_start>(
        "soon_after_the_start", "the start of the log counts as a finding before it",
        "From where are the 10 records counted?",
        {"the_start_of_a_run", "growth_that_went_too_far", "a_loss_that_is_not_finite",
         "growing_too_often", "divergence_is_both_low_and_last", "steps_are_those_of_the_log",
         "whole_runs"}),
    add<ten_is_few>("ten_is_few", "fewer than 10 includes 10", "Is 10 fewer than 10?",
                    {"growing_too_often"}),
    add<tries_again>("tries_again", "a run that diverged may do better next time",
                     "The same seed and the same settings: what will be different?",
                     {"a_run_that_diverged", "steps_are_those_of_the_log", "whole_runs"}),
    add<restores_and_goes_on>("restores_and_goes_on",
                              "from a checkpoint the run will not diverge again",
                              "The same seed and the same settings: what will be different?",
                              {"a_run_that_diverged", "steps_are_those_of_the_log", "whole_runs"}),
    add<nothing_for_a_batch>("nothing_for_a_batch", "a skipped batch is done with",
                             "It comes again in the next epoch. Who looks at it before?",
                             all_batches()),
    add<lower_rate_for_a_batch>(
        "lower_rate_for_a_batch", "against large gradients a lower learning rate always helps",
        "The steps around it were fine at this rate. What was different?", all_batches()),
};

}  // namespace
}  // namespace gradlab::event_log_bugs
