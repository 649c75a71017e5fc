// Known mistakes in mixed_step: what the limit is a limit of.
#include "common.hpp"

namespace gradlab::step_order_bugs {
namespace {

void clips_the_first_group(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.unscale();
  amp::clip_grad_norm_(s.optimizer.parameters(), s.max_norm);
  s.step();
  s.scaler.update();
}

void clips_each_value(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.unscale();
  s.clip_values();
  s.step();
  s.scaler.update();
}

void clips_each_weight_alone(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  s.unscale();
  for (const auto& weight : s.model.weights) amp::clip_grad_norm_({weight}, s.max_norm);
  s.step();
  s.scaler.update();
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "clips_the_first_group",
                   .belief = "optimizer.parameters() are all of its parameters",
                   .hint = "An optimizer can have several groups. Which of them does parameters() "
                           "return?",
                   .caught_by = {"every_group_of_parameters_is_clipped"}},
                  mixed<clips_the_first_group>()),
    add_bug<Impl>({.name = "clips_each_value",
                   .belief = "max_norm limits each element of a gradient",
                   .hint = "What is the norm of [5, 5], and does it point the way of [30, 40]?",
                   .caught_by = weights_of_task1() - "the_batch_after_an_overflow_trains"},
                  mixed<clips_each_value>()),
    add_bug<Impl>({.name = "clips_each_weight_alone",
                   .belief = "the limit is for each tensor",
                   .hint = "How long are two gradients of norm 1 taken together?",
                   .caught_by = {"weights_over_many_steps", "the_limit_is_for_true_gradients",
                                 "every_group_of_parameters_is_clipped"}},
                  mixed<clips_each_weight_alone>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
