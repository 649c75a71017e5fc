// Known mistakes in when update_scale moves the scale.
#include "common.hpp"

namespace gradlab::loss_scaling_bugs {
namespace {

void one_update_late(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker <= state.growth_interval) return;
  state.growth_tracker = 0;
  grow(state);
}

void one_update_early(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker + 1 < state.growth_interval) return;
  state.growth_tracker = 0;
  grow(state);
}

void grows_at_every_update(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  grow(state);
}

void grows_on_and_on(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker >= state.growth_interval) grow(state);
}

void grows_at_multiples(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker % state.growth_interval == 0) grow(state);
}

void starts_again_at_one(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker < state.growth_interval) return;
  state.growth_tracker = 1;
  grow(state);
}

void keeps_the_tracker_at_overflow(LossScale& state, bool found_inf) {
  if (!found_inf) return right_update(state, false);
  state.scale = product(state.scale, state.backoff_factor);
}

void counts_skipped_updates(LossScale& state, bool found_inf) {
  if (found_inf) state.scale = product(state.scale, state.backoff_factor);
  if (++state.growth_tracker < state.growth_interval) return;
  state.growth_tracker = 0;
  if (!found_inf) grow(state);
}

void grows_in_spite_of_an_overflow(LossScale& state, bool found_inf) {
  if (state.growth_tracker + 1 >= state.growth_interval) return right_update(state, false);
  right_update(state, found_inf);
}

void backs_off_at_the_second(LossScale& state, bool found_inf) {
  if (!found_inf) return right_update(state, false);
  static bool had_one = false;
  state.growth_tracker = 0;
  if (had_one) back_off(state);
  had_one = !had_one;
}

void takes_found_inf_for_fine(LossScale& state, bool found_inf) { right_update(state, !found_inf); }

void waits_where_it_cannot_grow(LossScale& state, bool found_inf) {
  if (found_inf) return back_off(state);
  if (++state.growth_tracker < state.growth_interval) return;
  if (!std::isfinite(product(state.scale, state.growth_factor))) return;
  state.growth_tracker = 0;
  grow(state);
}

void keeps_a_count_of_its_own(LossScale& state, bool found_inf) {
  static int64_t count = -1;
  if (count < 0) count = state.growth_tracker;
  state.growth_tracker = count;
  right_update(state, found_inf);
  count = state.growth_tracker;
}

void waits_longer_after_each_overflow(LossScale& state, bool found_inf) {
  right_update(state, found_inf);
  if (found_inf) state.growth_interval *= 2;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "one_update_late",
         .belief = "growth comes after more than growth_interval clean updates",
         .hint = "With interval 2, after how many clean updates has the scale doubled?",
         .caught_by = {"grows_exactly_at_the_interval", "an_overflow_starts_the_count_anew",
                       "tracker_counts_clean_updates_in_a_row", "grows_up_to_the_largest_float32",
                       "any_factors_will_do"}},
        with_update(one_update_late)),
    add_bug<Impl>(
        {.name = "one_update_early",
         .belief = "the tracker is 1 before the first clean update",
         .hint = "With interval 3 and tracker 0, what is the scale after two updates?",
         .caught_by = {"grows_exactly_at_the_interval", "an_overflow_starts_the_count_anew",
                       "tracker_counts_clean_updates_in_a_row", "grows_up_to_the_largest_float32"}},
        with_update(one_update_early)),
    add_bug<Impl>(
        {.name = "grows_at_every_update",
         .belief = "each clean update lets the scale grow",
         .hint = "What is growth_interval for?",
         .caught_by = {"overflow_backs_off_at_once", "grows_exactly_at_the_interval",
                       "an_overflow_starts_the_count_anew", "tracker_counts_clean_updates_in_a_row",
                       "grows_up_to_the_largest_float32", "the_scale_may_fall_below_one"}},
        with_update(grows_at_every_update)),
    add_bug<Impl>(
        {.name = "grows_on_and_on",
         .belief = "once the interval is reached the scale may go on growing",
         .hint = "What is the tracker after a growth?",
         .caught_by = {"grows_exactly_at_the_interval", "an_overflow_starts_the_count_anew",
                       "tracker_counts_clean_updates_in_a_row", "grows_up_to_the_largest_float32"}},
        with_update(grows_on_and_on)),
    add_bug<Impl>(
        {.name = "grows_at_multiples",
         .belief = "the tracker may count on, since its remainder says when to grow",
         .hint = "What does the contract say of the tracker at the update that grows?",
         .caught_by = {"tracker_counts_clean_updates_in_a_row", "grows_up_to_the_largest_float32"}},
        with_update(grows_at_multiples)),
    add_bug<Impl>(
        {.name = "starts_again_at_one",
         .belief = "the update that grows is the first of the next interval",
         .hint = "With interval 3, how many updates lie between two growths?",
         .caught_by = {"grows_exactly_at_the_interval", "an_overflow_starts_the_count_anew",
                       "tracker_counts_clean_updates_in_a_row", "grows_up_to_the_largest_float32"}},
        with_update(starts_again_at_one)),
    add_bug<Impl>({.name = "keeps_the_tracker_at_overflow",
                   .belief = "the tracker counts all clean updates, in a row or not",
                   .hint = "What is the tracker after an overflow?",
                   .caught_by = {"an_overflow_starts_the_count_anew",
                                 "tracker_counts_clean_updates_in_a_row"}},
                  with_update(keeps_the_tracker_at_overflow)),
    add_bug<Impl>({.name = "counts_skipped_updates",
                   .belief = "every update counts towards growth, skipped ones too",
                   .hint = "Is an update that found inf one of those without inf or NaN?",
                   .caught_by = {"an_overflow_starts_the_count_anew",
                                 "tracker_counts_clean_updates_in_a_row"}},
                  with_update(counts_skipped_updates)),
    add_bug<Impl>({.name = "grows_in_spite_of_an_overflow",
                   .belief = "when the interval is over the scale grows, whatever was found",
                   .hint = "Which question comes first: is the interval over, or was there inf?",
                   .caught_by = {"an_overflow_starts_the_count_anew", "any_factors_will_do"}},
                  with_update(grows_in_spite_of_an_overflow)),
    add_bug<Impl>({.name = "backs_off_at_the_second",
                   .belief = "a single overflow may be chance",
                   .hint = "Does the rule of this lab wait for a second overflow?",
                   .caught_by = {"overflow_backs_off_at_once", "an_overflow_starts_the_count_anew",
                                 "the_scale_may_fall_below_one", "any_factors_will_do"}},
                  with_update(backs_off_at_the_second)),
    add_bug<Impl>(
        {.name = "takes_found_inf_for_fine",
         .belief = "true means that the gradients are fine",
         .hint = "Read the name of the argument: what was found?",
         .caught_by = {"overflow_backs_off_at_once", "grows_exactly_at_the_interval",
                       "an_overflow_starts_the_count_anew", "tracker_counts_clean_updates_in_a_row",
                       "grows_up_to_the_largest_float32", "the_scale_may_fall_below_one",
                       "any_factors_will_do"}},
        with_update(takes_found_inf_for_fine)),
    add_bug<Impl>({.name = "waits_where_it_cannot_grow",
                   .belief = "the tracker stays at the interval while growth is refused",
                   .hint = "Which part of the rule does the word unless belong to?",
                   .caught_by = {"grows_up_to_the_largest_float32"}},
                  with_update(waits_where_it_cannot_grow)),
    add_bug<Impl>(
        {.name = "keeps_a_count_of_its_own",
         .belief = "a static counter does as well as the state's tracker",
         .hint = "Two scales take turns, or a run is resumed. What does your counter say?",
         .caught_by = {"grows_exactly_at_the_interval", "an_overflow_starts_the_count_anew",
                       "tracker_counts_clean_updates_in_a_row", "grows_up_to_the_largest_float32",
                       "two_scales_share_nothing"}},
        with_update(keeps_a_count_of_its_own)),
    add_bug<Impl>(
        {.name = "waits_longer_after_each_overflow",
         .belief = "after an overflow growth should wait longer",
         .hint = "Which two numbers of the state may an update change?",
         .caught_by = {"an_overflow_starts_the_count_anew", "tracker_counts_clean_updates_in_a_row",
                       "any_factors_will_do", "factors_and_interval_stay"}},
        with_update(waits_longer_after_each_overflow)),
};

}  // namespace
}  // namespace gradlab::loss_scaling_bugs
