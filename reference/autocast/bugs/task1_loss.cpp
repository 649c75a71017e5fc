// Known mistakes in output and loss: where the loss is taken, and what it leads back to.
#include "common.hpp"

namespace gradlab::autocast_bugs {
namespace {

torch::Tensor output_of(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype);
  return model.forward(batch.x);
}

Pass takes_the_loss_outside(const Model& model, const Batch& batch, Dtype dtype) {
  const auto output = output_of(model, batch, dtype);
  return {output, torch::mse_loss(output, batch.y)};
}

Pass rounds_the_target(const Model& model, const Batch& batch, Dtype dtype) {
  const auto output = output_of(model, batch, dtype);
  return {output, torch::mse_loss(output, batch.y.to(dtype))};
}

Pass rounds_the_target_only(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype);
  const auto output = model.forward(batch.x);
  return {output, torch::mse_loss(output, batch.y.to(dtype))};
}

Pass widens_a_half_loss(const Model& model, const Batch& batch, Dtype dtype) {
  const auto output = output_of(model, batch, dtype);
  return {output, (output - batch.y.to(dtype)).square().mean().to(torch::kFloat32)};
}

Pass widens_the_output(const Model& model, const Batch& batch, Dtype dtype) {
  const auto output = output_of(model, batch, dtype).to(torch::kFloat32);
  return {output, torch::mse_loss(output, batch.y)};
}

Pass sums_the_squares(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype);
  const auto output = model.forward(batch.x);
  return {output, torch::mse_loss(output, batch.y, at::Reduction::Sum)};
}

Pass detaches_the_output(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype);
  const auto output = model.forward(batch.x).detach().requires_grad_(true);
  return {output, torch::mse_loss(output, batch.y)};
}

Pass switches_gradients_on(const Model& model, const Batch& batch, Dtype dtype) {
  const torch::AutoGradMode on(true);
  return right_pass(model, batch, dtype);
}

Pass halves_the_model(const Model& model, const Batch& batch, Dtype dtype) {
  for (auto parameter : model.parameters) parameter.set_data(parameter.detach().to(dtype));
  return right_pass(model, batch, dtype);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "takes_the_loss_outside",
         .belief = "the region is for the model, the loss comes behind it",
         .hint = "Which two types meet in your mse_loss, and who makes them one?",
         .caught_by = updates() +
                      Checks{"the_loss_leads_back_to_the_weights", "evaluation_without_gradients",
                             "backward_runs_outside_the_region", "forward_runs_in_the_region",
                             "every_backward_runs_outside", "float16_keeps_tiny_gradients",
                             "float16_is_unscaled_before_the_step", "the_loss_comes_back_unscaled",
                             "scaled_backward_runs_outside"}},
        built_on<takes_the_loss_outside>()),
    add_bug<Impl>({.name = "rounds_the_target",
                   .belief = "output and target have to be of one dtype, so the target is cast",
                   .hint = "Which is the largest loss that a float16 can hold?",
                   .caught_by = {"loss_is_taken_in_float32", "one_step_by_hand",
                                 "float16_keeps_tiny_gradients"}},
                  built_on<rounds_the_target>()),
    add_bug<Impl>({.name = "rounds_the_target_only",
                   .belief = "in a region everything should be in its dtype, the target too",
                   .hint = "What becomes of a target of 257 in bfloat16?",
                   .caught_by = {"loss_is_taken_in_float32", "float16_keeps_tiny_gradients"}},
                  built_on<rounds_the_target_only>()),
    add_bug<Impl>({.name = "widens_a_half_loss",
                   .belief = "a loss is float32 when it is cast to float32 at the end",
                   .hint = "What is 300 squared in float16, and what does a cast make of that?",
                   .caught_by = {"loss_is_taken_in_float32", "one_step_by_hand",
                                 "float16_keeps_tiny_gradients"}},
                  built_on<widens_a_half_loss>()),
    add_bug<Impl>(
        {.name = "widens_the_output",
         .belief = "what leaves a region is float32 again",
         .hint = "In which dtype does the last linear layer of a region answer?",
         .caught_by = {"output_is_in_the_dtype_of_the_region", "a_region_within_a_region"}},
        built_on<widens_the_output>()),
    add_bug<Impl>({.name = "sums_the_squares",
                   .belief = "the loss is the sum of the squares",
                   .hint = "What is the mean of the squares 1 and 4?",
                   .caught_by = {"loss_is_taken_in_float32", "the_loss_leads_back_to_the_weights",
                                 "evaluation_without_gradients", "a_step_of_several_layers",
                                 "old_gradients_do_not_count", "a_run_of_several_layers",
                                 "float16_is_unscaled_before_the_step", "bfloat16_is_not_scaled",
                                 "the_loss_comes_back_unscaled"}},
                  built_on<sums_the_squares>()),
    add_bug<Impl>(
        {.name = "detaches_the_output",
         .belief = "the loss needs the numbers of the output, not its history",
         .hint = "By which way does backward get from the loss to a weight?",
         .caught_by = updates() +
                      Checks{"the_loss_leads_back_to_the_weights", "evaluation_without_gradients",
                             "backward_runs_outside_the_region", "every_backward_runs_outside",
                             "float16_keeps_tiny_gradients", "float16_is_unscaled_before_the_step",
                             "scaled_backward_runs_outside"}},
        built_on<detaches_the_output>()),
    add_bug<Impl>({.name = "switches_gradients_on",
                   .belief = "a pass always needs gradients",
                   .hint = "What does a caller want who holds a NoGradGuard?",
                   .caught_by = {"evaluation_without_gradients"}},
                  built_on<switches_gradients_on>()),
    add_bug<Impl>({.name = "halves_the_model",
                   .belief = "the parameters have to be cast to the dtype",
                   .hint = "Which type has the gradient of a float16 parameter, and its update?",
                   .caught_by = {"the_loss_leads_back_to_the_weights", "a_region_within_a_region",
                                 "evaluation_without_gradients", "one_step_by_hand",
                                 "a_step_of_several_layers", "old_gradients_do_not_count",
                                 "a_step_that_throws_changes_nothing", "a_run_of_several_layers",
                                 "float16_keeps_tiny_gradients",
                                 "float16_is_unscaled_before_the_step", "bfloat16_is_not_scaled"}},
                  built_on<halves_the_model>()),
};

}  // namespace
}  // namespace gradlab::autocast_bugs
