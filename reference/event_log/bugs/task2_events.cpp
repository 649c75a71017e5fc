// Known mistakes in watch: skips and norms that are not finite.
#include "common.hpp"

namespace gradlab::event_log_bugs {
namespace {

constexpr Event kSkip{EventName::kSkippedStep, Severity::kInfo};

// Any record as one that was not skipped.
Record taken(Record record) {
  record.skipped = false;
  return record;
}

std::optional<Event> skip_goes_unsaid(const Record& record, Baseline& baseline) {
  if (record.skipped) return std::nullopt;
  return right_watch(record, baseline);
}

template <Severity severity>
std::optional<Event> skip_is_severe(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{EventName::kSkippedStep, severity};
  return right_watch(record, baseline);
}

std::optional<Event> skip_is_an_alarm(const Record& record, Baseline& baseline) {
  return right_watch(taken(record), baseline);
}

std::optional<Event> skips_are_not_finite(const Record& record, Baseline& baseline) {
  if (record.skipped && !std::isfinite(record.norm)) return kSkip;
  return right_watch(taken(record), baseline);
}

std::optional<Event> skip_moves_the_baseline(const Record& record, Baseline& baseline) {
  if (record.skipped) {
    baseline.accept(record.norm);
    return kSkip;
  }
  return right_watch(record, baseline);
}

std::optional<Event> finite_skip_moves_the_baseline(const Record& record, Baseline& baseline) {
  if (record.skipped) {
    if (std::isfinite(record.norm)) baseline.accept(record.norm);
    return kSkip;
  }
  return right_watch(record, baseline);
}

std::optional<Event> skip_counts_as_zero(const Record& record, Baseline& baseline) {
  if (record.skipped) {
    baseline.accept(0);
    return kSkip;
  }
  return right_watch(record, baseline);
}

std::optional<Event> skip_counts_as_warm_up(const Record& record, Baseline& baseline) {
  if (record.skipped) {
    ++baseline.updates;
    return kSkip;
  }
  return right_watch(record, baseline);
}

std::optional<Event> skip_starts_anew(const Record& record, Baseline& baseline) {
  if (record.skipped) {
    baseline = {};
    return kSkip;
  }
  return right_watch(record, baseline);
}

std::optional<Event> not_finite_is_a_skip(const Record& record, Baseline& baseline) {
  if (!std::isfinite(record.norm)) return kSkip;
  return right_watch(record, baseline);
}

std::optional<Event> not_finite_is_exploding(const Record& record, Baseline& baseline) {
  if (!record.skipped && !std::isfinite(record.norm)) {
    return Event{EventName::kExploding, Severity::kWarning};
  }
  return right_watch(record, baseline);
}

std::optional<Event> not_finite_moves_the_baseline(const Record& record, Baseline& baseline) {
  if (!record.skipped && !std::isfinite(record.norm)) baseline.accept(record.norm);
  return right_watch(record, baseline);
}

std::optional<Event> nan_is_forgotten(const Record& record, Baseline& baseline) {
  if (!record.skipped && std::isnan(record.norm)) {
    baseline.accept(record.norm);
    return std::nullopt;
  }
  return right_watch(record, baseline);
}

Checks said() { return {"a_skip_is_information", "a_whole_run_is_watched"}; }
Checks moved() { return {"a_skip_moves_no_baseline", "a_whole_run_is_watched"}; }

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "skip_goes_unsaid",
                   .belief = "a step that was skipped is no event",
                   .hint = "How would one see from your events that half of all steps are skipped?",
                   .caught_by = said()},
                  with_watch(skip_goes_unsaid)),
    add_bug<Impl>({.name = "skip_is_a_warning",
                   .belief = "a skip is something to be warned of",
                   .hint = "A skip is the scaler at work. Should someone be called at night?",
                   .caught_by = said()},
                  with_watch(skip_is_severe<Severity::kWarning>)),
    add_bug<Impl>({.name = "skip_is_critical",
                   .belief = "an overflow is the worst that can happen",
                   .hint = "What did the overflow do to the weights?",
                   .caught_by = said()},
                  with_watch(skip_is_severe<Severity::kCritical>)),
    add_bug<Impl>({.name = "skip_is_an_alarm",
                   .belief = "the norm says all, whether skipped or not",
                   .hint = "Which line of the table comes first?",
                   .caught_by = said() + "a_skip_moves_no_baseline"},
                  with_watch(skip_is_an_alarm)),
    add_bug<Impl>({.name = "skips_are_not_finite",
                   .belief = "the norm of a skip is always inf or NaN",
                   .hint = "The overflow may be in another model's gradients. Which field says "
                           "that the step was skipped?",
                   .caught_by = {"a_skip_is_information", "a_skip_moves_no_baseline"}},
                  with_watch(skips_are_not_finite)),
    add_bug<Impl>({.name = "skip_moves_the_baseline",
                   .belief = "every record belongs to what is usual",
                   .hint = "What is a mean with inf in it, and how long does it stay so?",
                   .caught_by = moved()},
                  with_watch(skip_moves_the_baseline)),
    add_bug<Impl>({.name = "finite_skip_moves_the_baseline",
                   .belief = "only inf and NaN have to be kept out of the baseline",
                   .hint = "Did the weights move by that norm?",
                   .caught_by = {"a_skip_moves_no_baseline"}},
                  with_watch(finite_skip_moves_the_baseline)),
    add_bug<Impl>({.name = "skip_counts_as_zero",
                   .belief = "a step that was not taken has a norm of 0",
                   .hint = "What is log_norm(0), and what does it do to the mean?",
                   .caught_by = moved()},
                  with_watch(skip_counts_as_zero)),
    add_bug<Impl>({.name = "skip_counts_as_warm_up",
                   .belief = "updates counts records",
                   .hint = "How many norms does a baseline know after eight skips?",
                   .caught_by = moved()},
                  with_watch(skip_counts_as_warm_up)),
    add_bug<Impl>({.name = "skip_starts_anew",
                   .belief = "after an overflow nothing is as it was",
                   .hint = "The weights are the same as before. Why should the norms not be?",
                   .caught_by = moved()},
                  with_watch(skip_starts_anew)),
    add_bug<Impl>({.name = "not_finite_is_a_skip",
                   .belief = "a norm that is inf or NaN means that the step was skipped",
                   .hint = "Who skips where there is no scaler, and what is in the weights then?",
                   .caught_by = {"not_finite_and_not_skipped_is_critical"}},
                  with_watch(not_finite_is_a_skip)),
    add_bug<Impl>({.name = "not_finite_is_exploding",
                   .belief = "inf is a very large norm",
                   .hint = "Can the run go on after a step with inf, as after one with 1000?",
                   .caught_by = {"not_finite_and_not_skipped_is_critical"}},
                  with_watch(not_finite_is_exploding)),
    add_bug<Impl>(
        {.name = "not_finite_moves_the_baseline",
         .belief = "after a critical event it does not matter what becomes of the baseline",
         .hint = "What can you compare the next norms with?",
         .caught_by = {"not_finite_and_not_skipped_is_critical"}},
        with_watch(not_finite_moves_the_baseline)),
    add_bug<Impl>({.name = "nan_is_forgotten",
                   .belief = "what is above no limit and below none is usual",
                   .hint = "What is NaN > 1, and what is NaN < 1?",
                   .caught_by = {"not_finite_and_not_skipped_is_critical"}},
                  with_watch(nan_is_forgotten)),
};

}  // namespace
}  // namespace gradlab::event_log_bugs
