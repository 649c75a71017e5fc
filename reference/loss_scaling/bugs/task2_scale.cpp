// Known mistakes in how far update_scale moves the scale.
#include "common.hpp"

namespace gradlab::loss_scaling_bugs {
namespace {

void forgets_to_back_off(LossScale& state, bool found_inf) {
  if (!found_inf) return right_update(state, false);
  state.growth_tracker = 0;
}

void divides_by_the_backoff(LossScale& state, bool found_inf) {
  if (!found_inf) return right_update(state, false);
  state.scale = static_cast<float>(state.scale / state.backoff_factor);
  state.growth_tracker = 0;
}

void starts_over_at_65536(LossScale& state, bool found_inf) {
  if (!found_inf) return right_update(state, false);
  state.scale = 65536;
  state.growth_tracker = 0;
}

void no_limit(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker < state.growth_interval) return;
  state.growth_tracker = 0;
  const auto grown = state.scale * state.growth_factor;
  if (std::isfinite(grown)) state.scale = static_cast<float>(grown);
}

void stops_at_the_largest_number(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker < state.growth_interval) return;
  state.growth_tracker = 0;
  const auto grown = product(state.scale, state.growth_factor);
  state.scale = std::min(grown, std::numeric_limits<float>::max());
}

void backs_off_where_it_cannot_grow(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker < state.growth_interval) return;
  if (!std::isfinite(product(state.scale, state.growth_factor))) return back_off(state);
  state.growth_tracker = 0;
  grow(state);
}

void stops_at_two_to_the_24th(LossScale& state, bool found_inf) {
  const float before = state.scale;
  right_update(state, found_inf);
  if (state.scale > before && state.scale > 0x1p24F) state.scale = before;
}

void never_below_one(LossScale& state, bool found_inf) {
  right_update(state, found_inf);
  if (found_inf) state.scale = std::max(state.scale, 1.0F);
}

void whole_scales(LossScale& state, bool found_inf) {
  right_update(state, found_inf);
  state.scale = std::trunc(state.scale);
}

void doubles_and_halves(LossScale& state, bool found_inf) {
  LossScale plain = state;
  plain.growth_factor = 2;
  plain.backoff_factor = 0.5;
  right_update(plain, found_inf);
  state.scale = plain.scale;
  state.growth_tracker = plain.growth_tracker;
}

void backs_off_by_the_growth_factor(LossScale& state, bool found_inf) {
  if (!found_inf) return right_update(state, false);
  state.scale = static_cast<float>(state.scale / state.growth_factor);
  state.growth_tracker = 0;
}

void adds_the_growth_factor(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker < state.growth_interval) return;
  state.growth_tracker = 0;
  const auto grown = static_cast<float>(state.scale + state.growth_factor);
  if (std::isfinite(grown)) state.scale = grown;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "forgets_to_back_off",
                   .belief = "to skip the step is enough after an overflow",
                   .hint = "The next step is scaled as the last one was. What will it find?",
                   .caught_by = {"overflow_backs_off_at_once", "an_overflow_starts_the_count_anew",
                                 "the_scale_may_fall_below_one", "any_factors_will_do"}},
                  with_update(forgets_to_back_off)),
    add_bug<Impl>({.name = "divides_by_the_backoff",
                   .belief = "to back off is to divide by backoff_factor",
                   .hint = "What is 1024 / 0.5?",
                   .caught_by = {"overflow_backs_off_at_once", "an_overflow_starts_the_count_anew",
                                 "the_scale_may_fall_below_one", "any_factors_will_do"}},
                  with_update(divides_by_the_backoff)),
    add_bug<Impl>({.name = "starts_over_at_65536",
                   .belief = "after an overflow the scale starts anew",
                   .hint = "How does the scale ever come down to what this model needs?",
                   .caught_by = {"overflow_backs_off_at_once", "an_overflow_starts_the_count_anew",
                                 "the_scale_may_fall_below_one", "any_factors_will_do"}},
                  with_update(starts_over_at_65536)),
    add_bug<Impl>(
        {.name = "no_limit",
         .belief = "std::isfinite(scale * growth_factor) guards a float",
         .hint = "Of which type is a float times a double, and what is its largest number?",
         .caught_by = {"grows_up_to_the_largest_float32"}},
        with_update(no_limit)),
    add_bug<Impl>({.name = "stops_at_the_largest_number",
                   .belief = "a scale that would be inf becomes the largest float instead",
                   .hint = "What does the contract say of a growth that gives no finite float32?",
                   .caught_by = {"grows_up_to_the_largest_float32"}},
                  with_update(stops_at_the_largest_number)),
    add_bug<Impl>({.name = "backs_off_where_it_cannot_grow",
                   .belief = "a scale that would be inf counts as an overflow",
                   .hint = "Did any gradient overflow there?",
                   .caught_by = {"grows_up_to_the_largest_float32"}},
                  with_update(backs_off_where_it_cannot_grow)),
    add_bug<Impl>({.name = "stops_at_two_to_the_24th",
                   .belief = "some round number is the largest scale that makes sense",
                   .hint = "Which bound does the contract name?",
                   .caught_by = {"grows_up_to_the_largest_float32"}},
                  with_update(stops_at_two_to_the_24th)),
    add_bug<Impl>({.name = "never_below_one",
                   .belief = "a scale below 1 makes no sense",
                   .hint = "A gradient of 1e6 overflows float16 at scale 1. What could help it?",
                   .caught_by = {"the_scale_may_fall_below_one"}},
                  with_update(never_below_one)),
    add_bug<Impl>({.name = "whole_scales",
                   .belief = "a scale is a whole number",
                   .hint = "What is left of 0.5 in an integer?",
                   .caught_by = {"the_scale_may_fall_below_one"}},
                  with_update(whole_scales)),
    add_bug<Impl>({.name = "doubles_and_halves",
                   .belief = "the factors are always 2 and 0.5",
                   .hint = "Where in your code do growth_factor and backoff_factor stand?",
                   .caught_by = {"grows_up_to_the_largest_float32", "any_factors_will_do"}},
                  with_update(doubles_and_halves)),
    add_bug<Impl>({.name = "backs_off_by_the_growth_factor",
                   .belief = "backing off undoes one growth",
                   .hint = "Which of the two factors is for an overflow?",
                   .caught_by = {"any_factors_will_do"}},
                  with_update(backs_off_by_the_growth_factor)),
    add_bug<Impl>(
        {.name = "adds_the_growth_factor",
         .belief = "growth adds growth_factor to the scale",
         .hint = "What does the word factor say?",
         .caught_by = {"grows_exactly_at_the_interval", "an_overflow_starts_the_count_anew",
                       "grows_up_to_the_largest_float32", "any_factors_will_do"}},
        with_update(adds_the_growth_factor)),
};

}  // namespace
}  // namespace gradlab::loss_scaling_bugs
