// Known mistakes around the norm, the clipping, and the step that is logged.
#include <limits>

#include "common.hpp"

namespace gradlab::event_log_bugs {
namespace {

namespace amp = gradlab::amp;

Record norm_after_clipping(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop);
  clip(loop, record);
  if (std::isfinite(record.norm)) record.norm = norm_of(loop);
  finish(loop, record);
  return record;
}

Record norm_before_unscaling(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  const double norm = norm_of(loop);
  loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop);
  clip(loop, record);
  record.norm = norm;
  finish(loop, record);
  return record;
}

Record scaled_norm_without_a_limit(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  if (loop.max_norm) loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop);
  clip(loop, record);
  finish(loop, record);
  return record;
}

Record norm_only_with_a_limit(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  if (!loop.max_norm) record.norm = 0;
  return record;
}

Record divided_once_more(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.norm /= record.scale.value_or(1);
  return record;
}

Record divided_again_behind_the_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  if (!loop.max_norm) record.norm /= record.scale.value_or(1);
  return record;
}

Record measures_by_an_infinite_limit(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop);
  const auto limit = loop.max_norm.value_or(std::numeric_limits<double>::infinity());
  amp::clip_grad_norm_(amp::parameters_of(loop.optimizer), limit);
  if (loop.max_norm) record.clipped = record.norm + 1e-6 > *loop.max_norm;
  finish(loop, record);
  return record;
}

double norm_of_first_group(const Loop& loop) {
  Gradients gradients;
  for (const auto& parameter : loop.optimizer.parameters()) gradients.push_back(parameter.grad());
  return right_norm(gradients, 1, true);
}

Record first_group_only(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop);
  const double norm = norm_of_first_group(loop);
  clip(loop, record);
  if (std::isfinite(record.norm)) record.norm = norm;
  finish(loop, record);
  return record;
}

Record sum_of_group_norms(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  loop.scaler.unscale_(loop.optimizer);
  double sum = 0;
  for (const auto& gradient : gradients_of(loop)) sum += right_norm({gradient}, 1, true);
  record.norm = norm_of(loop);
  clip(loop, record);
  record.norm = sum;
  finish(loop, record);
  return record;
}

Record clipped_above_the_limit_only(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.clipped = loop.max_norm && record.norm > *loop.max_norm;
  return record;
}

Record clipped_where_there_is_a_limit(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.clipped = loop.max_norm.has_value();
  return record;
}

Record never_clipped(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  record.clipped = false;
  return record;
}

Record update_only_after_a_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop);
  clip(loop, record);
  record.skipped = !loop.scaler.step(loop.optimizer);
  const auto before = scale_of(loop);
  if (!record.skipped) loop.schedule.step();
  loop.scaler.update();
  if (record.skipped) loop.scaler.update(*before);
  record.scale_after = scale_of(loop);
  return record;
}

Record schedule_advances_always(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = right_step(loop, step, loss);
  if (record.skipped) loop.schedule.step();
  return record;
}

Record logs_without_clipping(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop);
  record.clipped = loop.max_norm && record.norm + 1e-6 > *loop.max_norm;
  finish(loop, record);
  return record;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "norm_after_clipping",
         .belief = "the norm that counts is the one that the step uses",
         .hint = "Your log never shows a norm above the limit. How would one see that the "
                 "gradients were far too long?",
         .caught_by = {"one_step_worked_by_hand", "norm_is_true_and_before_clipping",
                       "every_group_counts"}},
        with_step(norm_after_clipping)),
    add_bug<Impl>(
        {.name = "norm_before_unscaling",
         .belief = "the norm is that of the gradients as backward left them",
         .hint = "The scale doubles and the model stays as it is: what does your log say?",
         .caught_by = {"one_step_worked_by_hand", "norm_is_true_and_before_clipping",
                       "norm_is_measured_without_a_limit", "every_group_counts"}},
        with_step(norm_before_unscaling)),
    add_bug<Impl>({.name = "scaled_norm_without_a_limit",
                   .belief = "unscale_ belongs to clipping",
                   .hint = "What are the gradients multiplied by where nothing is clipped, and who "
                           "divides them before you look?",
                   .caught_by = {"norm_is_measured_without_a_limit"}},
                  with_step(scaled_norm_without_a_limit)),
    add_bug<Impl>(
        {.name = "norm_only_with_a_limit",
         .belief = "the norm is what clipping returns",
         .hint = "What does your log say of a run that does not clip?",
         .caught_by = {"norm_is_measured_without_a_limit", "without_a_scaler", "skips_are_told"}},
        with_step(norm_only_with_a_limit)),
    add_bug<Impl>({.name = "divided_once_more",
                   .belief = "a true norm is the norm divided by the scale",
                   .hint = "Who has divided these gradients already?",
                   .caught_by = {"one_step_worked_by_hand", "norm_is_true_and_before_clipping",
                                 "norm_is_measured_without_a_limit", "every_group_counts"}},
                  with_step(divided_once_more)),
    add_bug<Impl>({.name = "divided_again_behind_the_step",
                   .belief = "I never called unscale_, so the gradients are still scaled",
                   .hint = "What has scaler.step() done to the gradients?",
                   .caught_by = {"norm_is_measured_without_a_limit"}},
                  with_step(divided_again_behind_the_step)),
    add_bug<Impl>({.name = "measures_by_an_infinite_limit",
                   .belief = "clipping to infinity only measures",
                   .hint = "By what are all gradients multiplied when the norm is infinite, too?",
                   .caught_by = {"the_step_is_as_before"}},
                  with_step(measures_by_an_infinite_limit)),
    add_bug<Impl>({.name = "first_group_only",
                   .belief = "optimizer.parameters() are all parameters",
                   .hint = "How many parameter groups may an optimizer have?",
                   .caught_by = {"every_group_counts"}},
                  with_step(first_group_only)),
    add_bug<Impl>({.name = "sum_of_group_norms",
                   .belief = "the norm of all is the sum of the norms",
                   .hint = "What is the norm of [3, 4], and what are those of [3] and [4]?",
                   .caught_by = {"every_group_counts"}},
                  with_step(sum_of_group_norms)),
    add_bug<Impl>(
        {.name = "clipped_above_the_limit_only",
         .belief = "clipping begins above max_norm",
         .hint = "clip_grad_norm_ multiplies by max_norm / (norm + 1e-6). Is that below 1 "
                 "where norm is max_norm?",
         .caught_by = {"clipped_says_what_was_done"}},
        with_step(clipped_above_the_limit_only)),
    add_bug<Impl>({.name = "clipped_where_there_is_a_limit",
                   .belief = "gradients that went through clip_grad_norm_ were clipped",
                   .hint = "What does clip_grad_norm_ do to gradients that are short enough?",
                   .caught_by = {"clipped_says_what_was_done"}},
                  with_step(clipped_where_there_is_a_limit)),
    add_bug<Impl>({.name = "never_clipped",
                   .belief = "clipped need not be filled in",
                   .hint = "Which steps of a run would you look for, to choose max_norm?",
                   .caught_by = {"clipped_says_what_was_done"}},
                  with_step(never_clipped)),
    add_bug<Impl>({.name = "update_only_after_a_step",
                   .belief = "a skipped step has nothing to update",
                   .hint = "Which scale does the next batch meet, and what will it find?",
                   .caught_by = {"scale_is_the_one_in_use", "the_step_is_as_before"}},
                  with_step(update_only_after_a_step)),
    add_bug<Impl>({.name = "schedule_advances_always",
                   .belief = "the schedule counts records",
                   .hint = "Which line of training_step decides whether the schedule advances?",
                   .caught_by = {"lr_is_that_of_the_step", "the_step_is_as_before"}},
                  with_step(schedule_advances_always)),
    add_bug<Impl>({.name = "logs_without_clipping",
                   .belief = "measuring the norm is all that clipping is needed for",
                   .hint = "Compare your step with training_step: which call is gone?",
                   .caught_by = {"clipped_says_what_was_done", "the_step_is_as_before"}},
                  with_step(logs_without_clipping)),
};

}  // namespace
}  // namespace gradlab::event_log_bugs
