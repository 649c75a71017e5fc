// Known mistakes in two_optimizer_step: the losses and the clip, where the order is right.
#include "sides.hpp"

namespace gradlab::step_order_bugs {
namespace {

void losses_in_float16(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  for (const Side* side : {&first, &second}) {
    side->optimizer.zero_grad();
    scaler.scale(float16_loss_of(side->model, side->batch)).backward();
    moves_of(*side, scaler, max_norm).finish();
  }
  scaler.update();
}

void clips_the_first_twice(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  gradients_of_both(first, second, scaler);
  const auto one = moves_of(first, scaler, max_norm), other = moves_of(second, scaler, max_norm);
  one.unscale();
  other.unscale();
  one.clip();
  one.clip();
  one.step();
  other.step();
  scaler.update();
}

void clips_each_value_of_both(const Side& first, const Side& second, Scaler& scaler,
                              double max_norm) {
  gradients_of_both(first, second, scaler);
  for (const Side* side : {&first, &second}) {
    const auto moves = moves_of(*side, scaler, max_norm);
    moves.unscale();
    moves.clip_values();
    moves.step();
  }
  scaler.update();
}

void clips_both_together(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  gradients_of_both(first, second, scaler);
  scaler.unscale_(first.optimizer);
  scaler.unscale_(second.optimizer);
  auto weights = first.model.weights;
  weights.insert(weights.end(), second.model.weights.begin(), second.model.weights.end());
  amp::clip_grad_norm_(weights, max_norm);
  scaler.step(first.optimizer);
  scaler.step(second.optimizer);
  scaler.update();
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "losses_in_float16",
                   .belief = "both losses are float16 before they are scaled",
                   .hint = "The first scale is 65536. Which is the largest number of float16?",
                   .caught_by = {"each_steps_by_its_own_gradients", "one_update_for_both"}},
                  two_optimizer<losses_in_float16>()),
    add_bug<Impl>({.name = "clips_the_first_twice",
                   .belief = "a line that was copied names the second model",
                   .hint = "Which model does each of your two calls that clip name?",
                   .caught_by = {"each_is_clipped_by_itself", "one_overflow_skips_one_model"}},
                  two_optimizer<clips_the_first_twice>()),
    add_bug<Impl>({.name = "clips_each_value_of_both",
                   .belief = "max_norm limits each element of each model's gradients",
                   .hint = "What is the norm of a gradient whose elements are all max_norm?",
                   .caught_by = {"each_is_clipped_by_itself", "one_overflow_skips_one_model"}},
                  two_optimizer<clips_each_value_of_both>()),
    add_bug<Impl>(
        {.name = "clips_both_together",
         .belief = "all gradients of the iteration are one vector",
         .hint = "One model's norm is inf. What is left of the other's gradients when they "
                 "are clipped together?",
         .caught_by = {"each_is_clipped_by_itself", "one_overflow_skips_one_model"}},
        two_optimizer<clips_both_together>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
