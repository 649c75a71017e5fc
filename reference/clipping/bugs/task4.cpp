// Known mistakes in clip_after_warmup: when it clips, and what it says.
#include "common.hpp"

namespace gradlab::clipping_bugs {
namespace {

constexpr Clip kClip = clip_by<right_norm>;

bool clip_if(bool now, const Parameters& parameters, double max_norm) {
  if (now) kClip(parameters, max_norm);
  return now;
}

bool one_step_late(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  return clip_if(step > warmup, p, max_norm);
}

bool one_step_early(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  return clip_if(step + 1 >= warmup, p, max_norm);
}

bool at_the_boundary_only(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  return clip_if(step == warmup, p, max_norm);
}

bool during_warmup(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  return clip_if(step < warmup, p, max_norm);
}

bool ignores_warmup(const Parameters& p, double max_norm, int64_t, int64_t) {
  return clip_if(true, p, max_norm);
}

bool counts_its_own_calls(const Parameters& p, double max_norm, int64_t, int64_t warmup) {
  static int64_t calls = 0;
  return clip_if(calls++ >= warmup, p, max_norm);
}

bool steps_of_32_bits(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  return clip_if(static_cast<int32_t>(step) >= static_cast<int32_t>(warmup), p, max_norm);
}

bool ramps_the_limit(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  if (step >= warmup) return clip_if(true, p, max_norm);
  kClip(p, max_norm * static_cast<double>(step) / static_cast<double>(warmup));
  return false;
}

bool false_when_small(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  return step >= warmup && kClip(p, max_norm) > max_norm;
}

bool always_true(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  clip_if(step >= warmup, p, max_norm);
  return true;
}

bool never_true(const Parameters& p, double max_norm, int64_t step, int64_t warmup) {
  clip_if(step >= warmup, p, max_norm);
  return false;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "one_step_late",
         .belief = "warm-up is over when step > warmup_steps",
         .hint = "Steps are counted from 0. How many steps come before step 10?",
         .caught_by = {"the_boundary_step_clips", "small_norm_after_warmup_returns_true"}},
        with_after_warmup(one_step_late)),
    add_bug<Impl>({.name = "one_step_early",
                   .belief = "steps are counted from 1",
                   .hint = "With warmup_steps 10, is step 9 still a step of the warm-up?",
                   .caught_by = {"nothing_happens_before"}},
                  with_after_warmup(one_step_early)),
    add_bug<Impl>(
        {.name = "at_the_boundary_only",
         .belief = "once warm-up is over means one single time",
         .hint = "What should happen at the steps after the boundary?",
         .caught_by = {"clips_once_warmup_is_over", "small_norm_after_warmup_returns_true"}},
        with_after_warmup(at_the_boundary_only)),
    add_bug<Impl>({.name = "during_warmup",
                   .belief = "clipping protects the warm-up and stops after it",
                   .hint = "On which side of the boundary does the contract ask for clipping?",
                   .caught_by = {"clips_once_warmup_is_over", "the_boundary_step_clips",
                                 "nothing_happens_before", "small_norm_after_warmup_returns_true"}},
                  with_after_warmup(during_warmup)),
    add_bug<Impl>({.name = "ignores_warmup",
                   .belief = "clipping during warm-up does no harm",
                   .hint = "What does the contract say about the steps before the boundary?",
                   .caught_by = {"nothing_happens_before"}},
                  with_after_warmup(ignores_warmup)),
    add_bug<Impl>({.name = "counts_its_own_calls",
                   .belief = "each call is one step",
                   .hint = "A run is resumed at step 5000. What does your counter say?",
                   .caught_by = {"clips_once_warmup_is_over", "the_boundary_step_clips",
                                 "small_norm_after_warmup_returns_true"}},
                  with_after_warmup(counts_its_own_calls)),
    add_bug<Impl>({.name = "steps_of_32_bits",
                   .belief = "a step number fits into an int",
                   .hint = "What is the largest int, and which type does the contract name?",
                   .caught_by = {"clips_once_warmup_is_over", "nothing_happens_before",
                                 "small_norm_after_warmup_returns_true"}},
                  with_after_warmup(steps_of_32_bits)),
    add_bug<Impl>({.name = "ramps_the_limit",
                   .belief = "the limit warms up like the learning rate",
                   .hint = "What may change before the boundary: the limit, or nothing at all?",
                   .caught_by = {"nothing_happens_before"}},
                  with_after_warmup(ramps_the_limit)),
    add_bug<Impl>({.name = "false_when_small",
                   .belief = "true means that the gradients were changed",
                   .hint = "What is returned after the warm-up when the norm was small already?",
                   .caught_by = {"small_norm_after_warmup_returns_true"}},
                  with_after_warmup(false_when_small)),
    add_bug<Impl>({.name = "always_true",
                   .belief = "true means that the call went well",
                   .hint = "What tells the caller that this step was not clipped?",
                   .caught_by = {"nothing_happens_before"}},
                  with_after_warmup(always_true)),
    add_bug<Impl>({.name = "never_true",
                   .belief = "only the gradients matter, not what is returned",
                   .hint = "What tells the caller that clipping has begun?",
                   .caught_by = {"clips_once_warmup_is_over", "the_boundary_step_clips",
                                 "small_norm_after_warmup_returns_true"}},
                  with_after_warmup(never_true)),
};

}  // namespace
}  // namespace gradlab::clipping_bugs
