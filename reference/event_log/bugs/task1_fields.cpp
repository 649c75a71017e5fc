// Known mistakes in single fields of the record: read at the wrong moment, or from the wrong place.
#include "common.hpp"

namespace gradlab::event_log_bugs {
namespace {

Record scaled_loss(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.loss *= record.scale.value_or(1);
  return record;
}

Record loss_by_the_new_scale(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  if (record.scale) record.loss *= *record.scale / *record.scale_after;
  return record;
}

Record scale_after_update(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.scale = record.scale_after;
  return record;
}

Record scale_before_update(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.scale_after = record.scale;
  return record;
}

Record one_for_no_scaler(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  if (!record.scale) record.scale = record.scale_after = 1;
  return record;
}

Record skip_where_the_scale_changed(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.skipped = record.scale != record.scale_after;
  return record;
}

Record skip_where_the_loss_is_not_finite(const Loop& loop, int64_t step,
                                         const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.skipped = !std::isfinite(record.loss);
  return record;
}

Record skip_where_the_norm_is_not_finite(const Loop& loop, int64_t step,
                                         const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.skipped = !std::isfinite(record.norm);
  return record;
}

Record step_means_skip(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.skipped = !record.skipped;
  return record;
}

Record never_skipped(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.skipped = false;
  return record;
}

Record zero_norm_of_a_skip(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  if (record.skipped) record.norm = 0;
  return record;
}

Record lr_of_the_next_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.lr = lr_of(loop);
  return record;
}

Record lr_of_the_last_group(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  const double lr = loop.optimizer.param_groups().back().options().get_lr();
  auto record = right_step(loop, step, loss);
  record.lr = lr;
  return record;
}

Record counts_from_one(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  return right_step(loop, step + 1, loss);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "scaled_loss",
         .belief = "the loss of a step is the one that backward starts from",
         .hint = "The scale doubles and the model stays as it is: what does your log say?",
         .caught_by = {"one_step_worked_by_hand", "loss_is_unscaled"}},
        with_step(scaled_loss)),
    add_bug<Impl>({.name = "loss_by_the_new_scale",
                   .belief = "the scaled loss divided by the scaler's scale is the loss",
                   .hint = "Which scale does the scaler have once update() has run?",
                   .caught_by = {"loss_is_unscaled"}},
                  with_step(loss_by_the_new_scale)),
    add_bug<Impl>({.name = "scale_after_update",
                   .belief = "the scale can be read at any moment of the step",
                   .hint = "update() changes the scale. Which one was this loss multiplied by?",
                   .caught_by = {"scale_is_the_one_in_use"}},
                  with_step(scale_after_update)),
    add_bug<Impl>({.name = "scale_before_update",
                   .belief = "step() has moved the scale already",
                   .hint = "Which call moves the scale, and where do you read scale_after?",
                   .caught_by = {"scale_is_the_one_in_use"}},
                  with_step(scale_before_update)),
    add_bug<Impl>({.name = "one_for_no_scaler",
                   .belief = "get_scale() says whether there is a scaler",
                   .hint = "A scaler that is not enabled has a scale of 1. How would a reader of "
                           "your log know it from one that fell to 1?",
                   .caught_by = {"without_a_scaler"}},
                  with_step(one_for_no_scaler)),
    add_bug<Impl>({.name = "skip_where_the_scale_changed",
                   .belief = "the scale changes when a step is skipped, and only then",
                   .hint = "For which two reasons does update() change the scale?",
                   .caught_by = {"skips_are_told"}},
                  with_step(skip_where_the_scale_changed)),
    add_bug<Impl>({.name = "skip_where_the_loss_is_not_finite",
                   .belief = "an overflow shows in the loss",
                   .hint = "The gradient overflows after the loss was computed. Who knows whether "
                           "the optimizer stepped?",
                   .caught_by = {"skips_are_told"}},
                  with_step(skip_where_the_loss_is_not_finite)),
    add_bug<Impl>({.name = "skip_where_the_norm_is_not_finite",
                   .belief = "a step whose norm is inf or NaN was skipped",
                   .hint = "Who skips, and is it always there?",
                   .caught_by = {"without_a_scaler"}},
                  with_step(skip_where_the_norm_is_not_finite)),
    add_bug<Impl>({.name = "step_means_skip",
                   .belief = "scaler.step says whether it found inf",
                   .hint = "What does scaler.step return after a step that was taken?",
                   .caught_by = {"one_step_worked_by_hand", "skips_are_told", "without_a_scaler"}},
                  with_step(step_means_skip)),
    add_bug<Impl>({.name = "never_skipped",
                   .belief = "the step ran through, so it was taken",
                   .hint = "What does scaler.step do when it finds inf, and what does it return?",
                   .caught_by = {"skips_are_told"}},
                  with_step(never_skipped)),
    add_bug<Impl>({.name = "zero_norm_of_a_skip",
                   .belief = "where no step was taken there is no norm to tell, so it is 0",
                   .hint = "A chart of your norms reads 2, 0, 2. What would you think happened?",
                   .caught_by = {"skips_are_told"}},
                  with_step(zero_norm_of_a_skip)),
    add_bug<Impl>({.name = "lr_of_the_next_step",
                   .belief = "the learning rate can be read at the end of the step",
                   .hint = "schedule.step() comes before the end. For which step is the rate that "
                           "the optimizer has then?",
                   .caught_by = {"lr_is_that_of_the_step"}},
                  with_step(lr_of_the_next_step)),
    add_bug<Impl>({.name = "lr_of_the_last_group",
                   .belief = "all parameter groups have one learning rate",
                   .hint = "Which group does the contract name?",
                   .caught_by = {"lr_is_that_of_the_step"}},
                  with_step(lr_of_the_last_group)),
    add_bug<Impl>({.name = "counts_from_one",
                   .belief = "steps are counted from 1",
                   .hint = "Which number were you given for this step?",
                   .caught_by = {"one_step_worked_by_hand"}},
                  with_step(counts_from_one)),
};

}  // namespace
}  // namespace gradlab::event_log_bugs
