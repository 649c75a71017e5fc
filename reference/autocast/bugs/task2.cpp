// Known mistakes in a training step.
#include "common.hpp"

namespace gradlab::autocast_bugs {
namespace {

double backward_in_the_region(const Model& model, const Batch& batch, Dtype dtype,
                              Optimizer& optimizer) {
  const Region region(dtype);
  return step_by<right_pass>(model, batch, dtype, optimizer);
}

double step_without_a_region(const Model& model, const Batch& batch, Dtype, Optimizer& optimizer) {
  optimizer.zero_grad();
  const auto loss = pass_of(model, batch).loss;
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

double keeps_old_gradients(const Model& model, const Batch& batch, Dtype dtype,
                           Optimizer& optimizer) {
  const auto loss = right_pass(model, batch, dtype).loss;
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

double zeroes_what_is_not_there(const Model& model, const Batch& batch, Dtype dtype,
                                Optimizer& optimizer) {
  for (const auto& parameter : model.parameters) parameter.grad().zero_();
  return keeps_old_gradients(model, batch, dtype, optimizer);
}

double clears_gradients_at_the_end(const Model& model, const Batch& batch, Dtype dtype,
                                   Optimizer& optimizer) {
  const double loss = keeps_old_gradients(model, batch, dtype, optimizer);
  optimizer.zero_grad();
  return loss;
}

double clears_gradients_before_the_step(const Model& model, const Batch& batch, Dtype dtype,
                                        Optimizer& optimizer) {
  const auto loss = right_pass(model, batch, dtype).loss;
  loss.backward();
  optimizer.zero_grad();
  optimizer.step();
  return loss.item<double>();
}

double forgets_to_step(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer) {
  optimizer.zero_grad();
  const auto loss = right_pass(model, batch, dtype).loss;
  loss.backward();
  return loss.item<double>();
}

double steps_twice(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer) {
  const double loss = step_by<right_pass>(model, batch, dtype, optimizer);
  optimizer.step();
  return loss;
}

double returns_the_loss_behind_the_step(const Model& model, const Batch& batch, Dtype dtype,
                                        Optimizer& optimizer) {
  step_by<right_pass>(model, batch, dtype, optimizer);
  const torch::NoGradGuard evaluation;
  return right_pass(model, batch, dtype).loss.item<double>();
}

double returns_a_half(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer) {
  optimizer.zero_grad();
  const auto loss = right_pass(model, batch, dtype).loss;
  loss.backward();
  optimizer.step();
  return loss.to(dtype).item<double>();
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "backward_in_the_region",
                   .belief = "the whole step belongs into the region",
                   .hint = "What is the state of autocast at the moment when backward runs?",
                   .caught_by = {"backward_runs_outside_the_region", "every_backward_runs_outside",
                                 "scaled_backward_runs_outside"}},
                  built_on_step<backward_in_the_region>()),
    add_bug<Impl>({.name = "step_without_a_region",
                   .belief = "the optimizer or backward sees to the dtype",
                   .hint = "Which of your lines uses the dtype?",
                   .caught_by = {"forward_runs_in_the_region", "every_backward_runs_outside"}},
                  built_on_step<step_without_a_region>()),
    add_bug<Impl>({.name = "keeps_old_gradients",
                   .belief = "backward overwrites the gradients",
                   .hint = "What does backward do with a gradient that is there already?",
                   .caught_by = stale_copies() + Checks{"old_gradients_do_not_count"}},
                  built_on_step<keeps_old_gradients>()),
    add_bug<Impl>(
        {.name = "zeroes_what_is_not_there",
         .belief = "every parameter has a gradient",
         .hint = "What is grad() before the first backward?",
         .caught_by = stale_copies() +
                      Checks{"one_step_by_hand", "a_step_of_several_layers",
                             "backward_runs_outside_the_region", "forward_runs_in_the_region",
                             "every_backward_runs_outside", "bfloat16_is_not_scaled",
                             "the_loss_comes_back_unscaled", "scaled_backward_runs_outside"}},
        built_on_step<zeroes_what_is_not_there>()),
    add_bug<Impl>({.name = "clears_gradients_at_the_end",
                   .belief = "it is enough to clear the gradients when the step is done",
                   .hint = "Which gradients were there before the first step?",
                   .caught_by = {"old_gradients_do_not_count"}},
                  built_on_step<clears_gradients_at_the_end>()),
    add_bug<Impl>({.name = "clears_gradients_before_the_step",
                   .belief = "zero_grad comes before optimizer.step()",
                   .hint = "What does step multiply by the learning rate?",
                   .caught_by = updates()},
                  built_on_step<clears_gradients_before_the_step>()),
    add_bug<Impl>({.name = "forgets_to_step",
                   .belief = "backward moves the weights",
                   .hint = "Which call changes a parameter?",
                   .caught_by = updates()},
                  built_on_step<forgets_to_step>()),
    add_bug<Impl>({.name = "steps_twice",
                   .belief = "a second optimizer.step() does no harm",
                   .hint = "How far does one gradient move a weight when it is applied twice?",
                   .caught_by = updates()},
                  built_on_step<steps_twice>()),
    add_bug<Impl>({.name = "returns_the_loss_behind_the_step",
                   .belief = "the loss of a step is the one that the step reached",
                   .hint = "Of which weights is the loss that backward started from?",
                   .caught_by = {"one_step_by_hand", "each_step_sees_the_new_weight",
                                 "each_step_sees_the_new_bias", "a_run_of_several_layers",
                                 "the_loss_comes_back_unscaled"}},
                  built_on_step<returns_the_loss_behind_the_step>()),
    add_bug<Impl>({.name = "returns_a_half",
                   .belief = "the loss is of the dtype of the region",
                   .hint = "How many digits of 90000 does your return type hold?",
                   .caught_by = {"one_step_by_hand"}},
                  built_on_step<returns_a_half>()),
};

}  // namespace
}  // namespace gradlab::autocast_bugs
