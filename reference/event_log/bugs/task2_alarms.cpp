// Known mistakes in watch: alarms, their margin, and what the baseline takes in.
#include "common.hpp"

namespace gradlab::event_log_bugs {
namespace {

constexpr Event kExploding{EventName::kExploding, Severity::kWarning};
constexpr Event kVanishing{EventName::kVanishing, Severity::kWarning};

// A right watch, but for how a norm is compared and what is accepted: `alarm` gets a record whose
// norm is finite, after warm-up or not.
template <std::optional<Event> (*alarm)(const Record&, const Baseline&)>
std::optional<Event> watch_by(const Record& record, Baseline& baseline) {
  if (record.skipped || !std::isfinite(record.norm)) return right_watch(record, baseline);
  if (const auto event = alarm(record, baseline)) return event;
  baseline.accept(record.norm);
  return std::nullopt;
}

std::optional<Event> outside(const Record& record, const Baseline& baseline, double margin) {
  const double off = event_log::log_norm(record.norm) - baseline.mean;
  if (off > margin) return kExploding;
  if (off < -margin) return kVanishing;
  return std::nullopt;
}

bool is_warm(const Baseline& baseline) { return baseline.updates >= event_log::kWarmUp; }

std::optional<Event> alarm_moves_the_baseline(const Record& record, Baseline& baseline) {
  const auto before = baseline.updates;
  const auto event = right_watch(record, baseline);
  const bool is_usual = record.skipped || !std::isfinite(record.norm);
  if (!is_usual && baseline.updates == before) baseline.accept(record.norm);
  return event;
}

std::optional<Event> accepts_before_it_compares(const Record& record, Baseline& baseline) {
  if (record.skipped || !std::isfinite(record.norm)) return right_watch(record, baseline);
  const bool warm = is_warm(baseline);
  baseline.accept(record.norm);
  return warm ? outside(record, baseline, baseline.margin()) : std::nullopt;
}

std::optional<Event> never_warms_up(const Record& record, const Baseline& baseline) {
  return outside(record, baseline, baseline.margin());
}

std::optional<Event> one_more_to_warm_up(const Record& record, const Baseline& baseline) {
  if (baseline.updates <= event_log::kWarmUp) return std::nullopt;
  return outside(record, baseline, baseline.margin());
}

std::optional<Event> one_fewer_to_warm_up(const Record& record, const Baseline& baseline) {
  if (baseline.updates + 1 < event_log::kWarmUp) return std::nullopt;
  return outside(record, baseline, baseline.margin());
}

std::optional<Event> no_least_margin(const Record& record, const Baseline& baseline) {
  if (!is_warm(baseline)) return std::nullopt;
  return outside(record, baseline, 2.5 * (std::sqrt(baseline.variance) + 1e-6));
}

std::optional<Event> always_a_decade(const Record& record, const Baseline& baseline) {
  return is_warm(baseline) ? outside(record, baseline, 1) : std::nullopt;
}

std::optional<Event> norm_itself(const Record& record, const Baseline& baseline) {
  if (!is_warm(baseline)) return std::nullopt;
  if (record.norm > baseline.mean + baseline.margin()) return kExploding;
  if (record.norm < baseline.mean - baseline.margin()) return kVanishing;
  return std::nullopt;
}

std::optional<Event> natural_logarithm(const Record& record, const Baseline& baseline) {
  if (!is_warm(baseline)) return std::nullopt;
  Record other = record;
  other.norm = std::pow(10.0, std::log(record.norm + 1e-30));
  return outside(other, baseline, baseline.margin());
}

std::optional<Event> from_zero(const Record& record, const Baseline& baseline) {
  if (!is_warm(baseline)) return std::nullopt;
  return outside(record, {.mean = 0, .variance = baseline.variance}, baseline.margin());
}

std::optional<Event> only_exploding(const Record& record, const Baseline& baseline) {
  const auto event =
      is_warm(baseline) ? outside(record, baseline, baseline.margin()) : std::nullopt;
  return event && event->name == EventName::kExploding ? event : std::nullopt;
}

std::optional<Event> zero_is_no_norm(const Record& record, Baseline& baseline) {
  if (!record.skipped && record.norm == 0) return std::nullopt;
  return right_watch(record, baseline);
}

std::optional<Event> all_is_exploding(const Record& record, Baseline& baseline) {
  auto event = right_watch(record, baseline);
  if (event && event->name == EventName::kVanishing) event->name = EventName::kExploding;
  return event;
}

template <Severity severity>
std::optional<Event> alarm_of(const Record& record, Baseline& baseline) {
  auto event = right_watch(record, baseline);
  if (event && event->severity == Severity::kWarning) event->severity = severity;
  return event;
}

std::optional<Event> accepts_nothing(const Record& record, Baseline& baseline) {
  Baseline copy = baseline;
  return right_watch(record, copy);
}

Checks alarms() { return {"exploding_is_a_warning", "vanishing_is_a_warning"}; }

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "alarm_moves_the_baseline",
                   .belief = "every finite norm belongs to what is usual",
                   .hint = "After how many steps does a norm of 1000 look usual to you?",
                   .caught_by = {"an_alarm_moves_no_baseline", "the_margin_of_the_contract",
                                 "a_whole_run_is_watched"}},
                  with_watch(alarm_moves_the_baseline)),
    add_bug<Impl>({.name = "accepts_before_it_compares",
                   .belief = "it makes no difference whether one accepts or compares first",
                   .hint = "How much of itself is in the mean that a norm is compared with?",
                   .caught_by = alarms() + "an_alarm_moves_no_baseline" +
                                "the_margin_of_the_contract" + "a_whole_run_is_watched"},
                  with_watch(accepts_before_it_compares)),
    add_bug<Impl>({.name = "never_warms_up",
                   .belief = "a baseline is good from the first norm on",
                   .hint = "What is the mean before anything was accepted?",
                   .caught_by = {"no_alarm_during_warm_up"}},
                  with_watch(watch_by<never_warms_up>)),
    add_bug<Impl>({.name = "one_more_to_warm_up",
                   .belief = "warm-up ends after the record that follows kWarmUp norms",
                   .hint = "kWarmUp norms were accepted before this one. Is it warm?",
                   .caught_by = alarms()},
                  with_watch(watch_by<one_more_to_warm_up>)),
    add_bug<Impl>({.name = "one_fewer_to_warm_up",
                   .belief = "the norm at hand counts towards warm-up",
                   .hint = "How many norms were accepted before the one that you compare?",
                   .caught_by = {"no_alarm_during_warm_up"}},
                  with_watch(watch_by<one_fewer_to_warm_up>)),
    add_bug<Impl>({.name = "no_least_margin",
                   .belief = "2.5 deviations are always wide enough",
                   .hint = "What is the deviation of a run whose norms hardly change?",
                   .caught_by = {"the_margin_of_the_contract", "a_whole_run_is_watched"}},
                  with_watch(watch_by<no_least_margin>)),
    add_bug<Impl>({.name = "always_a_decade",
                   .belief = "a factor of 10 is unusual in every run",
                   .hint = "What does Baseline::margin() say where the deviation is 0.6?",
                   .caught_by = {"the_margin_of_the_contract"}},
                  with_watch(watch_by<always_a_decade>)),
    add_bug<Impl>(
        {.name = "norm_itself",
         .belief = "the baseline holds norms",
         .hint = "Of what does Baseline keep the mean?",
         .caught_by = alarms() + "usual_norms_move_the_baseline" + "an_alarm_moves_no_baseline" +
                      "the_margin_of_the_contract" + "a_whole_run_is_watched"},
        with_watch(watch_by<norm_itself>)),
    add_bug<Impl>({.name = "natural_logarithm",
                   .belief = "std::log is the logarithm that decades are counted in",
                   .hint = "What is std::log(10), and what is log_norm(10)?",
                   .caught_by = alarms() + "the_margin_of_the_contract" + "a_whole_run_is_watched"},
                  with_watch(watch_by<natural_logarithm>)),
    add_bug<Impl>({.name = "from_zero",
                   .belief = "the margin is counted from a norm of 1",
                   .hint = "Around which number does the contract lay its margin?",
                   .caught_by = alarms()},
                  with_watch(watch_by<from_zero>)),
    add_bug<Impl>({.name = "only_exploding",
                   .belief = "only large norms are dangerous",
                   .hint = "What does a layer learn whose gradient has vanished?",
                   .caught_by = {"vanishing_is_a_warning", "an_alarm_moves_no_baseline",
                                 "the_margin_of_the_contract", "a_whole_run_is_watched"}},
                  with_watch(watch_by<only_exploding>)),
    add_bug<Impl>({.name = "zero_is_no_norm",
                   .belief = "a norm of 0 says that there was nothing to measure",
                   .hint = "What is log_norm(0), and where does that lie?",
                   .caught_by = {"vanishing_is_a_warning", "no_alarm_during_warm_up"}},
                  with_watch(zero_is_no_norm)),
    add_bug<Impl>({.name = "all_is_exploding",
                   .belief = "unusual is unusual",
                   .hint = "On which side of the mean is this norm?",
                   .caught_by = {"vanishing_is_a_warning", "the_margin_of_the_contract",
                                 "a_whole_run_is_watched"}},
                  with_watch(all_is_exploding)),
    add_bug<Impl>({.name = "alarm_is_critical",
                   .belief = "an alarm is critical",
                   .hint = "Which event says that the weights are lost?",
                   .caught_by = alarms() + "the_margin_of_the_contract" + "a_whole_run_is_watched"},
                  with_watch(alarm_of<Severity::kCritical>)),
    add_bug<Impl>({.name = "alarm_is_information",
                   .belief = "as long as it is finite it is information",
                   .hint = "Should nobody look at norms a hundred times the usual?",
                   .caught_by = alarms() + "the_margin_of_the_contract" + "a_whole_run_is_watched"},
                  with_watch(alarm_of<Severity::kInfo>)),
    add_bug<Impl>(
        {.name = "accepts_nothing",
         .belief = "the baseline is only looked at",
         .hint = "Where would it come from, if nobody accepts a norm?",
         .caught_by = {"usual_norms_move_the_baseline", "not_finite_and_not_skipped_is_critical",
                       "no_alarm_during_warm_up", "the_margin_of_the_contract",
                       "a_whole_run_is_watched"}},
        with_watch(accepts_nothing)),
};

}  // namespace
}  // namespace gradlab::event_log_bugs
