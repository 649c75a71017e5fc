// Known mistakes in scheduled_step: the step itself, and what is returned.
#include <cmath>

#include "scheduled.hpp"

namespace gradlab::step_order_bugs {
namespace {

bool scheduled_loss_in_float16(const Step& step, LRScheduler& schedule, Progress& progress) {
  step.zero_grad();
  step.scaled_backward(float16_loss_of(step.model, step.batch));
  const bool stepped = step.finish();
  step.scaler.update();
  return after(stepped, step, schedule, progress);
}

bool scheduled_clips_each_value(const Step& step, LRScheduler& schedule, Progress& progress) {
  step.zero_grad();
  step.scaled_backward(step.loss());
  step.unscale();
  step.clip_values();
  const bool stepped = step.step();
  step.scaler.update();
  return after(stepped, step, schedule, progress);
}

bool false_at_a_bad_loss(const Step& step, LRScheduler& schedule, Progress& progress) {
  if (!std::isfinite(step.loss().item<double>())) return false;
  return after(step.right(), step, schedule, progress);
}

bool always_true(const Step& step, LRScheduler& schedule, Progress& progress) {
  after(step.right(), step, schedule, progress);
  return true;
}

bool says_whether_it_skipped(const Step& step, LRScheduler& schedule, Progress& progress) {
  return !after(step.right(), step, schedule, progress);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "scheduled_loss_in_float16",
                   .belief = "the loss of a scheduled step is float16 before it is scaled",
                   .hint = "The first scale is 65536. Which is the largest number of float16?",
                   .caught_by = {"schedule_advances_with_every_step", "average_follows_every_step",
                                 "says_whether_it_stepped"}},
                  scheduled<scheduled_loss_in_float16>()),
    add_bug<Impl>({.name = "scheduled_clips_each_value",
                   .belief = "max_norm limits each element before a scheduled step",
                   .hint = "What is the norm of a gradient whose elements are all max_norm?",
                   .caught_by = {"each_step_has_the_rate_before_it_advances",
                                 "a_skipped_batch_leaves_nothing_behind"}},
                  scheduled<scheduled_clips_each_value>()),
    add_bug<Impl>({.name = "false_at_a_bad_loss",
                   .belief = "a bad loss is a skip, and nothing more has to be done",
                   .hint = "Who tells the scaler of a batch that you returned from?",
                   .caught_by = {"a_skipped_batch_leaves_nothing_behind"}},
                  scheduled<false_at_a_bad_loss>()),
    add_bug<Impl>({.name = "always_true",
                   .belief = "true means that the call went well",
                   .hint = "How does the caller hear of a skip?",
                   .caught_by = {"says_whether_it_stepped"}},
                  scheduled<always_true>()),
    add_bug<Impl>({.name = "says_whether_it_skipped",
                   .belief = "what is returned says whether something was found",
                   .hint = "Read the contract's sentence on what is returned: is true a step or a "
                           "skip?",
                   .caught_by = {"says_whether_it_stepped"}},
                  scheduled<says_whether_it_skipped>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
