// Known mistakes in mixed_step: calls that are missing, twice there, or in another order.
#include "common.hpp"

namespace gradlab::step_order_bugs {
namespace {

void never_updates(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.finish();
}

void updates_only_after_a_step(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  if (s.finish()) s.scaler.update();
}

void updates_before_stepping(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.unscale();
  s.clip();
  s.scaler.update();
  s.step();
}

void drops_the_scaled_loss(const Step& s) {
  s.zero_grad();
  auto loss = s.loss();
  s.scaler.scale(loss);
  loss.backward();
  s.finish();
  s.scaler.update();
}

void divides_and_unscales(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  for (const auto& weight : s.model.weights) weight.grad().div_(s.scaler.get_scale());
  s.finish();
  s.scaler.update();
}

void unscales_twice(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.unscale();
  s.clip();
  s.unscale();
  s.step();
  s.scaler.update();
}

void clips_before_unscaling(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.clip();
  s.unscale();
  s.step();
  s.scaler.update();
}

void clips_after_the_step(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.unscale();
  s.step();
  s.clip();
  s.scaler.update();
}

void steps_the_optimizer_itself(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.unscale();
  s.clip();
  s.optimizer.step();
  s.scaler.update();
}

void steps_twice(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.finish();
  s.optimizer.step();
  s.scaler.update();
}

void never_zeroes(const Step& s) {
  s.scaled_backward(s.loss());
  s.finish();
  s.scaler.update();
}

void zeroes_before_the_step(const Step& s) {
  s.scaled_backward(s.loss());
  s.unscale();
  s.clip();
  s.zero_grad();
  s.step();
  s.scaler.update();
}

void zeroes_only_after_a_step(const Step& s) {
  s.scaled_backward(s.loss());
  if (s.finish()) s.zero_grad();
  s.scaler.update();
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "never_updates",
                   .belief = "the scaler looks after its scale by itself",
                   .hint = "Which call tells the scaler that this iteration is over?",
                   .caught_by = skips_of_task1() + Checks{"weights_over_many_steps",
                                                          "the_limit_is_for_true_gradients"}},
                  mixed<never_updates>()),
    add_bug<Impl>({.name = "updates_only_after_a_step",
                   .belief = "where nothing was stepped there is nothing to update",
                   .hint = "After an overflow, who makes the scale smaller?",
                   .caught_by = skips_of_task1()},
                  mixed<updates_only_after_a_step>()),
    add_bug<Impl>({.name = "updates_before_stepping",
                   .belief = "update and step can be swapped",
                   .hint = "What does the scaler still know about this optimizer after update?",
                   .caught_by = weights_of_task1() + skips_of_task1()},
                  mixed<updates_before_stepping>()),
    add_bug<Impl>({.name = "drops_the_scaled_loss",
                   .belief = "scale changes the loss in place",
                   .hint = "Which tensor is multiplied by the scale: the one you pass, or the one "
                           "that comes back?",
                   .caught_by = weights_of_task1() + skips_of_task1()},
                  mixed<drops_the_scaled_loss>()),
    add_bug<Impl>({.name = "divides_and_unscales",
                   .belief = "the gradients have to be divided by the scale before unscale_",
                   .hint = "What does unscale_ do to the gradients?",
                   .caught_by = weights_of_task1()},
                  mixed<divides_and_unscales>()),
    add_bug<Impl>({.name = "unscales_twice",
                   .belief = "clipping wants unscaled gradients, and so does step",
                   .hint = "How often may one optimizer be unscaled between two updates?",
                   .caught_by = all_of_task1()},
                  mixed<unscales_twice>()),
    add_bug<Impl>({.name = "clips_before_unscaling",
                   .belief = "clipping and unscaling can be swapped",
                   .hint = "How long is a gradient of norm 1 when the scale is 64, and what does a "
                           "limit of 1 leave of it?",
                   .caught_by = weights_of_task1() - "the_batch_after_an_overflow_trains"},
                  mixed<clips_before_unscaling>()),
    add_bug<Impl>({.name = "clips_after_the_step",
                   .belief = "clipping belongs to the end of the step",
                   .hint = "Which call uses the gradients, and is it before or after yours?",
                   .caught_by = weights_of_task1() - "the_batch_after_an_overflow_trains" +
                                "scale_and_tracker_at_every_step"},
                  mixed<clips_after_the_step>()),
    add_bug<Impl>({.name = "steps_the_optimizer_itself",
                   .belief = "once the gradients are unscaled, optimizer.step() is enough",
                   .hint = "Who looks whether a gradient is inf before the weights change?",
                   .caught_by = skips_of_task1()},
                  mixed<steps_the_optimizer_itself>()),
    add_bug<Impl>({.name = "steps_twice",
                   .belief = "scaler.step prepares the step that optimizer.step takes",
                   .hint = "How often do the weights change in your function?",
                   .caught_by = weights_of_task1() + skips_of_task1()},
                  mixed<steps_twice>()),
    add_bug<Impl>({.name = "never_zeroes",
                   .belief = "backward overwrites the gradients",
                   .hint = "What does backward do where a gradient is already there?",
                   .caught_by = {"weights_over_many_steps", "scale_and_tracker_at_every_step",
                                 "the_batch_after_an_overflow_trains"}},
                  mixed<never_zeroes>()),
    add_bug<Impl>({.name = "zeroes_before_the_step",
                   .belief = "gradients are cleared once they have been looked at",
                   .hint = "Which gradients does step find?",
                   .caught_by = weights_of_task1()},
                  mixed<zeroes_before_the_step>()),
    add_bug<Impl>(
        {.name = "zeroes_only_after_a_step",
         .belief = "gradients that were not used need not be cleared",
         .hint = "What is inf plus the next batch's gradient?",
         .caught_by = {"scale_and_tracker_at_every_step", "the_batch_after_an_overflow_trains"}},
        mixed<zeroes_only_after_a_step>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
