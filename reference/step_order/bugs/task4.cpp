// Known mistakes in scheduled_step: when the schedule and the average move, and what a skip leaves.
#include <cmath>

#include "scheduled.hpp"

namespace gradlab::step_order_bugs {
namespace {

bool schedule_always(const Step& step, LRScheduler& schedule, Progress& progress) {
  const bool stepped = step.right();
  schedule.step();
  if (stepped) progress.follow(step.model);
  return stepped;
}

bool average_always(const Step& step, LRScheduler& schedule, Progress& progress) {
  const bool stepped = step.right();
  if (stepped) schedule.step();
  progress.follow(step.model);
  return stepped;
}

bool schedule_never(const Step& step, LRScheduler&, Progress& progress) {
  const bool stepped = step.right();
  if (stepped) progress.follow(step.model);
  return stepped;
}

bool average_never(const Step& step, LRScheduler& schedule, Progress&) {
  const bool stepped = step.right();
  if (stepped) schedule.step();
  return stepped;
}

bool scale_is_unchanged(const Step& step, LRScheduler& schedule, Progress& progress) {
  const double before = step.scaler.get_scale();
  step.right();
  return after(step.scaler.get_scale() == before, step, schedule, progress);
}

bool scale_has_grown(const Step& step, LRScheduler& schedule, Progress& progress) {
  const double before = step.scaler.get_scale();
  step.right();
  return after(step.scaler.get_scale() > before, step, schedule, progress);
}

bool loss_is_finite(const Step& step, LRScheduler& schedule, Progress& progress) {
  const bool finite = std::isfinite(step.loss().item<double>());
  step.right();
  return after(finite, step, schedule, progress);
}

bool asks_after_update(const Step& step, LRScheduler& schedule, Progress& progress) {
  step.right();
  const bool stepped = !step.scaler.view(step.optimizer).found_inf.value_or(false);
  return after(stepped, step, schedule, progress);
}

bool schedule_before_the_step(const Step& step, LRScheduler& schedule, Progress& progress) {
  step.zero_grad();
  step.scaled_backward(step.loss());
  step.unscale();
  step.clip();
  const bool found = *step.scaler.view(step.optimizer).found_inf;
  if (!found) schedule.step();
  step.step();
  step.scaler.update();
  if (!found) progress.follow(step.model);
  return !found;
}

bool average_before_the_step(const Step& step, LRScheduler& schedule, Progress& progress) {
  step.zero_grad();
  step.scaled_backward(step.loss());
  step.unscale();
  step.clip();
  const bool found = *step.scaler.view(step.optimizer).found_inf;
  if (!found) progress.follow(step.model);
  step.step();
  step.scaler.update();
  if (!found) schedule.step();
  return !found;
}

bool leaves_its_gradients(const Step& step, LRScheduler& schedule, Progress& progress) {
  step.scaled_backward(step.loss());
  const bool stepped = step.finish();
  step.scaler.update();
  if (stepped) step.zero_grad();
  return after(stepped, step, schedule, progress);
}

bool steps_anyway(const Step& step, LRScheduler& schedule, Progress& progress) {
  step.zero_grad();
  step.scaled_backward(step.loss());
  step.unscale();
  step.clip();
  const bool found = *step.scaler.view(step.optimizer).found_inf;
  step.optimizer.step();
  step.scaler.update();
  return after(!found, step, schedule, progress);
}

bool tries_again(const Step& step, LRScheduler& schedule, Progress& progress) {
  return after(step.right() || step.right(), step, schedule, progress);
}

bool no_update_after_a_skip(const Step& step, LRScheduler& schedule, Progress& progress) {
  step.zero_grad();
  step.scaled_backward(step.loss());
  const bool stepped = step.finish();
  if (stepped) step.scaler.update();
  return after(stepped, step, schedule, progress);
}

// What follows the schedule, what follows the average, and what sees a skip.
Checks schedule() {
  return {"schedule_advances_with_every_step", "growth_is_no_skip",
          "each_step_has_the_rate_before_it_advances", "schedule_waits_when_a_step_is_skipped"};
}
Checks average() { return {"average_follows_every_step", "average_waits_when_a_step_is_skipped"}; }
Checks skips() {
  return {"schedule_waits_when_a_step_is_skipped", "average_waits_when_a_step_is_skipped",
          "says_whether_it_stepped"};
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "schedule_always",
         .belief = "a schedule counts batches",
         .hint = "The first ten batches are skipped. Which learning rate should the first "
                 "step have?",
         .caught_by = {"schedule_waits_when_a_step_is_skipped"}},
        scheduled<schedule_always>()),
    add_bug<Impl>({.name = "average_always",
                   .belief = "averaging the same weights again does no harm",
                   .hint = "Where does the average go when it follows weights that did not move?",
                   .caught_by = {"average_waits_when_a_step_is_skipped"}},
                  scheduled<average_always>()),
    add_bug<Impl>({.name = "schedule_never",
                   .belief = "the optimizer advances its schedule",
                   .hint = "Who calls schedule.step()?",
                   .caught_by = schedule()},
                  scheduled<schedule_never>()),
    add_bug<Impl>({.name = "average_never",
                   .belief = "progress follows by itself",
                   .hint = "Who tells progress that the weights have changed?",
                   .caught_by = average()},
                  scheduled<average_never>()),
    add_bug<Impl>({.name = "scale_is_unchanged",
                   .belief = "a scale that changed means a skip",
                   .hint = "The scale can change in two directions. What does each of them mean?",
                   .caught_by = {"growth_is_no_skip", "says_whether_it_stepped"}},
                  scheduled<scale_is_unchanged>()),
    add_bug<Impl>({.name = "scale_has_grown",
                   .belief = "the scale grows with every step that is taken",
                   .hint = "After how many good steps does the scale grow?",
                   .caught_by = schedule() + average() + "says_whether_it_stepped"},
                  scheduled<scale_has_grown>()),
    add_bug<Impl>({.name = "loss_is_finite",
                   .belief = "a finite loss means that the step was taken",
                   .hint = "Can a gradient overflow when the loss does not?",
                   .caught_by = skips()},
                  scheduled<loss_is_finite>()),
    add_bug<Impl>({.name = "asks_after_update",
                   .belief = "the scaler remembers what it found",
                   .hint = "What does update clear?",
                   .caught_by = skips()},
                  scheduled<asks_after_update>()),
    add_bug<Impl>({.name = "schedule_before_the_step",
                   .belief = "the schedule sets the rate for the step that follows",
                   .hint = "Which rate does the very first step have?",
                   .caught_by = {"each_step_has_the_rate_before_it_advances"}},
                  scheduled<schedule_before_the_step>()),
    add_bug<Impl>({.name = "average_before_the_step",
                   .belief = "average and step can be swapped",
                   .hint = "Which weights does the average see when it follows first?",
                   .caught_by = average()},
                  scheduled<average_before_the_step>()),
    add_bug<Impl>({.name = "leaves_its_gradients",
                   .belief = "after a skip there is nothing to clear",
                   .hint = "scaler.step leaves the gradients of a skipped batch as they are. What "
                           "does the next backward add to?",
                   .caught_by = skips() + "a_skipped_batch_leaves_nothing_behind"},
                  scheduled<leaves_its_gradients>()),
    add_bug<Impl>({.name = "steps_anyway",
                   .belief = "it is enough that the schedule waits",
                   .hint = "What do the weights hold after a step with gradients of inf?",
                   .caught_by = skips() + "a_skipped_batch_leaves_nothing_behind"},
                  scheduled<steps_anyway>()),
    add_bug<Impl>({.name = "tries_again",
                   .belief = "a skipped batch is tried again at the smaller scale",
                   .hint = "How often may one call move the scale?",
                   .caught_by = {"a_skipped_batch_leaves_nothing_behind"}},
                  scheduled<tries_again>()),
    add_bug<Impl>({.name = "no_update_after_a_skip",
                   .belief = "after a skip everything waits, the scaler too",
                   .hint = "What has to change before the next batch has a chance?",
                   .caught_by = skips() + "a_skipped_batch_leaves_nothing_behind"},
                  scheduled<no_update_after_a_skip>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
