// Known mistakes in save_scaler and load_scaler.
#include <optional>
#include <stdexcept>

#include "common.hpp"

namespace gradlab::resume_bugs {
namespace {

// Where the scale is lost, every example overflows at the scale that a new scaler begins with.
Checks every_scaler() {
  return Checks{"scale_and_tracker_go_on", "factors_and_interval_come_back",
                "the_schedule_goes_on",    "a_cut_before_the_step",
                "overflows_on_both_sides", "another_process_reads_the_scaler",
                "a_used_scaler_forgets"} +
         through_a_file();
}
Checks the_schedule() {
  return every_scaler() - "scale_and_tracker_go_on" - "factors_and_interval_come_back" +
         "a_disabled_scaler_goes_on";
}
Checks the_settings() { return every_scaler() - "the_schedule_goes_on"; }

using State = amp::GradScalerState;

State state_in(const Items& items) {
  return {number(items, "scale"), number(items, "growth_factor"), number(items, "backoff_factor"),
          static_cast<int64_t>(number(items, "growth_interval")),
          static_cast<int64_t>(number(items, "growth_tracker"))};
}

void put_schedule(Trainer& trainer, const Items& items) {
  trainer.schedule.steps = static_cast<int64_t>(number(items, "steps"));
}

void require_state(const Trainer& trainer, const Items& items) {
  if (trainer.scaler.is_enabled() && !has(items, "scale")) {
    throw std::runtime_error("the scaler's state is empty");
  }
}

// A right load, but for what `change` does to the state; it is given the one that was there.
template <void (*change)(State& state, const State& before)>
void put_changed(Trainer& trainer, const Items& items) {
  require_state(trainer, items);
  if (const auto before = trainer.scaler.state()) {
    auto state = state_in(items);
    change(state, *before);
    trainer.scaler.load_state(state);
    trainer.scaler.scale(torch::zeros({}));
  }
  put_schedule(trainer, items);
}

void puts_the_schedule_only(Trainer& trainer, const Items& items) {
  require_state(trainer, items);
  trainer.scaler.scale(torch::zeros({}));
  put_schedule(trainer, items);
}

void new_scaler_after_load(Trainer& trainer, const Items& items) {
  put_scaler(trainer, items);
  amp::GradScalerOptions options;
  options.enabled = trainer.scaler.is_enabled();
  trainer.scaler = amp::GradScaler(options);
  trainer.scaler.scale(torch::zeros({}));
}

void no_tracker(State& state, const State&) { state.growth_tracker = 0; }
void old_tracker(State& state, const State& before) {
  state.growth_tracker = before.growth_tracker;
}
void old_factors(State& state, const State& before) {
  state.growth_factor = before.growth_factor;
  state.backoff_factor = before.backoff_factor;
}
void old_interval(State& state, const State& before) {
  state.growth_interval = before.growth_interval;
}
void old_settings(State& state, const State& before) {
  old_factors(state, before);
  old_interval(state, before);
}
void factors_the_wrong_way_round(State& state, const State&) {
  state.growth_factor = 1 / std::exchange(state.backoff_factor, 1 / state.growth_factor);
}
void half_the_scale(State& state, const State&) { state.scale *= state.backoff_factor; }
void first_scale(State& state, const State&) {
  state.scale = 65536;
  state.growth_tracker = 0;
}

void no_schedule(Trainer& trainer, const Items& items) {
  const auto steps = trainer.schedule.steps;
  put_scaler(trainer, items);
  trainer.schedule.steps = steps;
}
void schedule_begins_anew(Trainer& trainer, const Items& items) {
  put_scaler(trainer, items);
  trainer.schedule.steps = 0;
}
void one_step_more(Trainer& trainer, const Items& items) {
  put_scaler(trainer, items);
  ++trainer.schedule.steps;
}
void adds_the_steps(Trainer& trainer, const Items& items) {
  const auto steps = trainer.schedule.steps;
  put_scaler(trainer, items);
  trainer.schedule.steps += steps;
}

void never_calls_scale(Trainer& trainer, const Items& items) {
  require_state(trainer, items);
  if (trainer.scaler.is_enabled()) {
    amp::GradScaler fresh;
    fresh.load_state(state_in(items));
    trainer.scaler = std::move(fresh);
  }
  put_schedule(trainer, items);
}

struct AsksForAState : Right {
  static std::string save_scaler(const Trainer& trainer) {
    static_cast<void>(trainer.scaler.state().value());
    return Right::save_scaler(trainer);
  }
};
struct ReadsAState : Right {
  static void load_scaler(Trainer& trainer, const std::string& bytes) {
    const auto items = unpack(bytes);
    if (!has(items, "scale")) throw std::runtime_error("the scaler's state is empty");
    put_scaler(trainer, items);
  }
};

void passes_over_an_empty_state(Trainer& trainer, const Items& items) {
  if (has(items, "scale")) return put_scaler(trainer, items);
  put_schedule(trainer, items);
}
void schedule_before_the_refusal(Trainer& trainer, const Items& items) {
  put_schedule(trainer, items);
  put_scaler(trainer, items);
}
void refuses_by_another_exception(Trainer& trainer, const Items& items) {
  if (trainer.scaler.is_enabled() && !has(items, "scale")) throw std::bad_optional_access();
  put_scaler(trainer, items);
}
void begins_anew_for_an_empty_state(Trainer& trainer, const Items& items) {
  if (has(items, "scale") || !trainer.scaler.is_enabled()) return put_scaler(trainer, items);
  trainer.scaler = amp::GradScaler();
  trainer.scaler.scale(torch::zeros({}));
  throw std::runtime_error("the scaler's state is empty");
}

struct ScalerInMemory : Right {
  static std::string save_scaler(const Trainer& trainer) {
    return keep(Right::save_scaler(trainer));
  }
  static void load_scaler(Trainer& trainer, const std::string& bytes) {
    trainer.scaler.scale(torch::zeros({}));
    if (const auto* whole = kept(bytes)) Right::load_scaler(trainer, *whole);
  }
};

struct DisabledScalerEndsTheLoad : Right {
  static void load_scaler(Trainer& trainer, const std::string& bytes) {
    if (trainer.scaler.is_enabled()) Right::load_scaler(trainer, bytes);
  }
};

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "scaler_not_saved",
                   .belief = "a scaler finds its scale again by itself",
                   .hint = "How many batches are skipped on the way from 65536 down, and were they "
                           "skipped in the run that was not cut?",
                   .caught_by = every_scaler()},
                  made_of<Scaler<as_they_are, puts_the_schedule_only>>()),
    add_bug<Impl>({.name = "new_scaler_after_load",
                   .belief = "the scaler is made when all else is loaded",
                   .hint = "Which scaler has the state that you loaded, and which one trains?",
                   .caught_by = every_scaler()},
                  made_of<Scaler<as_they_are, new_scaler_after_load>>()),
    add_bug<Impl>(
        {.name = "tracker_begins_anew",
         .belief = "the scale is the scaler's state",
         .hint = "Of 2000 updates without an overflow 1500 had passed. When does the scale "
                 "double after your load?",
         .caught_by = every_scaler() - "the_schedule_goes_on"},
        made_of<Scaler<as_they_are, put_changed<no_tracker>>>()),
    add_bug<Impl>({.name = "tracker_stays",
                   .belief = "the tracker belongs to the scaler that is there",
                   .hint = "Whose updates did the tracker count that you leave where it is?",
                   .caught_by = every_scaler() - "the_schedule_goes_on"},
                  made_of<Scaler<as_they_are, put_changed<old_tracker>>>()),
    add_bug<Impl>({.name = "factors_not_loaded",
                   .belief = "factors are settings, so every scaler has the same",
                   .hint = "What is the scale after the next overflow, when the other trainer was "
                           "made with the default factors?",
                   .caught_by = {"factors_and_interval_come_back"}},
                  made_of<Scaler<as_they_are, put_changed<old_factors>>>()),
    add_bug<Impl>({.name = "interval_not_loaded",
                   .belief = "the interval is a setting, so every scaler has the same",
                   .hint = "How many updates has the scale to wait for, when the other trainer was "
                           "made with the default interval?",
                   .caught_by = the_settings()},
                  made_of<Scaler<as_they_are, put_changed<old_interval>>>()),
    add_bug<Impl>(
        {.name = "settings_not_loaded",
         .belief = "scale and tracker are the scaler's state, the rest is settings",
         .hint = "state() has five values. Which of them does the new scaler have only if "
                 "it was made in the same way?",
         .caught_by = the_settings()},
        made_of<Scaler<as_they_are, put_changed<old_settings>>>()),
    add_bug<Impl>({.name = "factors_the_wrong_way_round",
                   .belief = "the order in which numbers are read does not matter",
                   .hint = "In which order did you write the two factors, and in which do you read "
                           "them?",
                   .caught_by = {"factors_and_interval_come_back"}},
                  made_of<Scaler<as_they_are, put_changed<factors_the_wrong_way_round>>>()),
    add_bug<Impl>({.name = "backs_off_to_be_safe",
                   .belief = "a resumed run had better begin with a smaller scale",
                   .hint = "Which scale would the run have had that was not cut?",
                   .caught_by = every_scaler() - "the_schedule_goes_on"},
                  made_of<Scaler<as_they_are, put_changed<half_the_scale>>>()),
    add_bug<Impl>({.name = "first_scale_again",
                   .belief = "growth factor, backoff factor and interval are the scaler's state",
                   .hint = "Which scale had the run found before the cut, and how?",
                   .caught_by = every_scaler()},
                  made_of<Scaler<as_they_are, put_changed<first_scale>>>()),
    add_bug<Impl>({.name = "schedule_not_loaded",
                   .belief = "the optimizer knows how far the run is",
                   .hint = "Where does the learning rate of the next step come from?",
                   .caught_by = the_schedule()},
                  made_of<Scaler<as_they_are, no_schedule>>()),
    add_bug<Impl>(
        {.name = "schedule_begins_anew",
         .belief = "a resumed run warms up once more",
         .hint = "How large is the first learning rate after the cut, and how large would "
                 "it have been?",
         .caught_by = the_schedule()},
        made_of<Scaler<as_they_are, schedule_begins_anew>>()),
    add_bug<Impl>({.name = "one_step_more",
                   .belief = "the next step's number is saved, not the last one's",
                   .hint = "How many steps had been taken when you saved, and how many are there "
                           "when you have loaded?",
                   .caught_by = the_schedule()},
                  made_of<Scaler<as_they_are, one_step_more>>()),
    add_bug<Impl>({.name = "adds_the_steps",
                   .belief = "a resumed run counts on from what was there",
                   .hint = "What is in the trainer that you load into, if it has trained before?",
                   .caught_by = {"a_used_scaler_forgets", "a_file_resumes_the_run"}},
                  made_of<Scaler<as_they_are, adds_the_steps>>()),
    add_bug<Impl>({.name = "never_calls_scale",
                   .belief = "a scaler is ready when its state is loaded",
                   .hint = "The gradients are there and the next call is unscale_. What does a "
                           "scaler say whose scale() was never called?",
                   .caught_by = through_a_file() +
                                Checks{"a_cut_before_the_step", "overflows_on_both_sides"}},
                  made_of<Scaler<as_they_are, never_calls_scale>>()),
    add_bug<Impl>(
        {.name = "asks_a_disabled_scaler",
         .belief = "every scaler has a state",
         .hint = "What does state() return of a scaler that is disabled, as a bfloat16 run "
                 "has it?",
         .caught_by = {"a_disabled_scaler_goes_on", "an_empty_state_is_refused"}},
        made_of<AsksForAState>()),
    add_bug<Impl>({.name = "refuses_for_a_disabled_scaler",
                   .belief = "an empty state is always an error",
                   .hint = "Which scaler can do without a state?",
                   .caught_by = {"a_disabled_scaler_goes_on"}},
                  made_of<ReadsAState>()),
    add_bug<Impl>({.name = "disabled_scaler_ends_the_load",
                   .belief = "where the scaler is disabled there is nothing to load",
                   .hint = "The part holds two things. Which of them does a run without a scaler "
                           "have all the same?",
                   .caught_by = {"a_disabled_scaler_goes_on"}},
                  made_of<DisabledScalerEndsTheLoad>()),
    add_bug<Impl>({.name = "passes_over_an_empty_state",
                   .belief = "no state is no change",
                   .hint = "With which scale does an enabled scaler go on, when the file had none? "
                           "And who is told?",
                   .caught_by = {"an_empty_state_is_refused"}},
                  made_of<Scaler<as_they_are, passes_over_an_empty_state>>()),
    add_bug<Impl>({.name = "schedule_before_the_refusal",
                   .belief = "what is read first can be put first",
                   .hint = "What has changed in the trainer by the time the scaler's state is "
                           "refused?",
                   .caught_by = {"an_empty_state_is_refused"}},
                  made_of<Scaler<as_they_are, schedule_before_the_refusal>>()),
    add_bug<Impl>({.name = "begins_anew_for_an_empty_state",
                   .belief = "a scaler that cannot be loaded is made anew",
                   .hint = "The load was refused. Which scale does the run go on with?",
                   .caught_by = {"an_empty_state_is_refused"}},
                  made_of<Scaler<as_they_are, begins_anew_for_an_empty_state>>()),
    add_bug<Impl>({.name = "refuses_by_another_exception",
                   .belief = "any exception will do",
                   .hint = "Which type does the contract name, and which one does value() throw?",
                   .caught_by = {"an_empty_state_is_refused"}},
                  made_of<Scaler<as_they_are, refuses_by_another_exception>>()),
    add_bug<Impl>({.name = "scaler_in_memory",
                   .belief = "what a static variable holds is saved",
                   .hint = "What is left of your variable when the process has ended?",
                   .caught_by = from_process_to_process() + "another_process_reads_the_scaler"},
                  made_of<ScalerInMemory>()),
};

}  // namespace
}  // namespace gradlab::resume_bugs
