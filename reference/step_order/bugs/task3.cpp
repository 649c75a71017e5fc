// Known mistakes in two_optimizer_step: what each optimizer has for itself, and what they share.
#include "sides.hpp"

namespace gradlab::step_order_bugs {
namespace {

void updates_after_each(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  gradients_of_both(first, second, scaler);
  for (const Side* side : {&first, &second}) {
    moves_of(*side, scaler, max_norm).finish();
    scaler.update();
  }
}

void updates_between(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  gradients_of_both(first, second, scaler);
  moves_of(first, scaler, max_norm).finish();
  scaler.update();
  moves_of(second, scaler, max_norm).finish();
}

// As two iterations, one after the other: each is right, the scaler moves twice.
void two_iterations(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  for (const Side* side : {&first, &second}) {
    side->optimizer.zero_grad();
    backward_of(*side, scaler);
    moves_of(*side, scaler, max_norm).finish();
    scaler.update();
  }
}

void unscales_the_first_only(const Side& first, const Side& second, Scaler& scaler,
                             double max_norm) {
  gradients_of_both(first, second, scaler);
  scaler.unscale_(first.optimizer);
  for (const Side* side : {&first, &second}) {
    const auto moves = moves_of(*side, scaler, max_norm);
    moves.clip();
    moves.step();
  }
  scaler.update();
}

void both_or_none(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  gradients_of_both(first, second, scaler);
  bool overflow = false;
  for (const Side* side : {&first, &second}) {
    const auto moves = moves_of(*side, scaler, max_norm);
    moves.unscale();
    moves.clip();
    overflow = overflow || *scaler.view(side->optimizer).found_inf;
  }
  if (!overflow) {
    scaler.step(first.optimizer);
    scaler.step(second.optimizer);
  }
  scaler.update();
}

void stops_at_the_first_skip(const Side& first, const Side& second, Scaler& scaler,
                             double max_norm) {
  gradients_of_both(first, second, scaler);
  if (moves_of(first, scaler, max_norm).finish()) moves_of(second, scaler, max_norm).finish();
  scaler.update();
}

void scales_the_first_only(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  first.optimizer.zero_grad();
  second.optimizer.zero_grad();
  backward_of(first, scaler);
  loss_of(second.model, second.batch).backward();
  for (const Side* side : {&first, &second}) moves_of(*side, scaler, max_norm).finish();
  scaler.update();
}

void zeroes_the_first_only(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  first.optimizer.zero_grad();
  for (const Side* side : {&first, &second}) {
    backward_of(*side, scaler);
    moves_of(*side, scaler, max_norm).finish();
  }
  scaler.update();
}

void steps_without_asking(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  gradients_of_both(first, second, scaler);
  for (const Side* side : {&first, &second}) {
    const auto moves = moves_of(*side, scaler, max_norm);
    moves.unscale();
    moves.clip();
    side->optimizer.step();
  }
  scaler.update();
}

void updates_only_after_two_steps(const Side& first, const Side& second, Scaler& scaler,
                                  double max_norm) {
  gradients_of_both(first, second, scaler);
  const bool one = moves_of(first, scaler, max_norm).finish();
  const bool other = moves_of(second, scaler, max_norm).finish();
  if (one && other) scaler.update();
}

void forgets_the_second(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  gradients_of_both(first, second, scaler);
  moves_of(first, scaler, max_norm).finish();
  scaler.update();
}

Checks trains() {
  return {"each_steps_by_its_own_gradients", "each_is_clipped_by_itself",
          "one_overflow_skips_one_model"};
}

Checks scales() { return {"one_update_for_both", "two_overflows_are_one_backoff"}; }

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "updates_after_each",
                   .belief = "every optimizer's step ends with an update",
                   .hint = "By which scale are the second optimizer's gradients divided, and by "
                           "which were they multiplied?",
                   .caught_by = trains() + scales()},
                  two_optimizer<updates_after_each>()),
    add_bug<Impl>({.name = "updates_between",
                   .belief = "update once means after the first step",
                   .hint = "Which optimizers does the scaler still know when update comes?",
                   .caught_by = trains() + "two_overflows_are_one_backoff"},
                  two_optimizer<updates_between>()),
    add_bug<Impl>({.name = "two_iterations",
                   .belief = "two models are two training steps, one after the other",
                   .hint = "How often does the scale grow while each model takes one step?",
                   .caught_by = scales()},
                  two_optimizer<two_iterations>()),
    add_bug<Impl>({.name = "unscales_the_first_only",
                   .belief = "unscale_ is for the scaler, so one call is enough",
                   .hint = "Whose gradients does unscale_ divide?",
                   .caught_by = trains() - "each_steps_by_its_own_gradients"},
                  two_optimizer<unscales_the_first_only>()),
    add_bug<Impl>({.name = "both_or_none",
                   .belief = "an overflow anywhere skips every optimizer",
                   .hint = "Is there anything wrong with the other model's gradients?",
                   .caught_by = {"one_overflow_skips_one_model"}},
                  two_optimizer<both_or_none>()),
    add_bug<Impl>({.name = "stops_at_the_first_skip",
                   .belief = "after a skip the iteration is over",
                   .hint = "What happens to the second model when only the first one overflows?",
                   .caught_by = {"one_overflow_skips_one_model"}},
                  two_optimizer<stops_at_the_first_skip>()),
    add_bug<Impl>({.name = "scales_the_first_only",
                   .belief = "one scaled loss is enough",
                   .hint = "What does unscale_ make of gradients that were never scaled?",
                   .caught_by = trains()},
                  two_optimizer<scales_the_first_only>()),
    add_bug<Impl>(
        {.name = "zeroes_the_first_only",
         .belief = "one zero_grad clears all gradients",
         .hint = "Whose gradients does optimizer.zero_grad() clear?",
         .caught_by = trains() - "each_is_clipped_by_itself" + "two_overflows_are_one_backoff"},
        two_optimizer<zeroes_the_first_only>()),
    add_bug<Impl>({.name = "steps_without_asking",
                   .belief = "after unscale_ each optimizer can step by itself",
                   .hint = "Which call looks whether inf or NaN was found for this optimizer?",
                   .caught_by = {"one_overflow_skips_one_model", "two_overflows_are_one_backoff"}},
                  two_optimizer<steps_without_asking>()),
    add_bug<Impl>({.name = "updates_only_after_two_steps",
                   .belief = "update counts steps that were taken",
                   .hint = "One optimizer skipped. Who makes the scale smaller?",
                   .caught_by = {"one_overflow_skips_one_model", "two_overflows_are_one_backoff"}},
                  two_optimizer<updates_only_after_two_steps>()),
    add_bug<Impl>({.name = "forgets_the_second",
                   .belief = "stepping one optimizer of a scaler steps all",
                   .hint = "Which weights does an optimizer's step change?",
                   .caught_by = trains() + "two_overflows_are_one_backoff"},
                  two_optimizer<forgets_the_second>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
