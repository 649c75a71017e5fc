// Known mistakes with the scale of the loss.
#include "common.hpp"

namespace gradlab::autocast_bugs {
namespace {

// A step whose backward starts from `start(loss)`; the gradients are divided by `divisor`.
template <typename Start>
double scaled_step(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer,
                   double divisor, Start start) {
  optimizer.zero_grad();
  const auto loss = right_pass(model, batch, dtype).loss;
  start(loss).backward();
  divide_gradients(model, divisor);
  optimizer.step();
  return loss.item<double>();
}

bool is_half(Dtype dtype) { return dtype == torch::kHalf; }

double scales_both(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer,
                   double scale) {
  return scaled_step(model, batch, dtype, optimizer, scale,
                     [&](const auto& loss) { return loss * scale; });
}

double scales_neither(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer,
                      double) {
  return step_by<right_pass>(model, batch, dtype, optimizer);
}

double takes_the_dtypes_for_each_other(const Model& model, const Batch& batch, Dtype dtype,
                                       Optimizer& optimizer, double scale) {
  if (is_half(dtype)) return step_by<right_pass>(model, batch, dtype, optimizer);
  return scales_both(model, batch, dtype, optimizer, scale);
}

double never_unscales(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer,
                      double scale) {
  const double by = is_half(dtype) ? scale : 1;
  return scaled_step(model, batch, dtype, optimizer, 1,
                     [&](const auto& loss) { return loss * by; });
}

double unscales_behind_the_step(const Model& model, const Batch& batch, Dtype dtype,
                                Optimizer& optimizer, double scale) {
  const double loss = never_unscales(model, batch, dtype, optimizer, scale);
  if (is_half(dtype)) divide_gradients(model, scale);
  return loss;
}

double divides_bfloat16_too(const Model& model, const Batch& batch, Dtype dtype,
                            Optimizer& optimizer, double scale) {
  const double by = is_half(dtype) ? scale : 1;
  return scaled_step(model, batch, dtype, optimizer, scale,
                     [&](const auto& loss) { return loss * by; });
}

double divides_the_first_only(const Model& model, const Batch& batch, Dtype dtype,
                              Optimizer& optimizer, double scale) {
  if (!is_half(dtype)) return step_by<right_pass>(model, batch, dtype, optimizer);
  optimizer.zero_grad();
  const auto loss = right_pass(model, batch, dtype).loss;
  (loss * scale).backward();
  model.parameters.front().grad().div_(scale);
  optimizer.step();
  return loss.item<double>();
}

double divides_the_first_group_only(const Model& model, const Batch& batch, Dtype dtype,
                                    Optimizer& optimizer, double scale) {
  if (!is_half(dtype)) return step_by<right_pass>(model, batch, dtype, optimizer);
  optimizer.zero_grad();
  const auto loss = right_pass(model, batch, dtype).loss;
  (loss * scale).backward();
  for (const auto& parameter : optimizer.param_groups().front().params()) {
    if (parameter.grad().defined()) parameter.grad().div_(scale);
  }
  optimizer.step();
  return loss.item<double>();
}

void divide_rates(Optimizer& optimizer, double by) {
  for (auto& group : optimizer.param_groups()) {
    group.options().set_lr(group.options().get_lr() / by);
  }
}

double divides_the_learning_rate(const Model& model, const Batch& batch, Dtype dtype,
                                 Optimizer& optimizer, double scale) {
  if (!is_half(dtype)) return step_by<right_pass>(model, batch, dtype, optimizer);
  divide_rates(optimizer, scale);
  const AtEnd end([&] { divide_rates(optimizer, 1 / scale); });
  return never_unscales(model, batch, dtype, optimizer, scale);
}

double unscales_twice(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer,
                      double scale) {
  if (!is_half(dtype)) return step_by<right_pass>(model, batch, dtype, optimizer);
  return scaled_step(model, batch, dtype, optimizer, scale * scale,
                     [&](const auto& loss) { return loss * scale; });
}

double returns_the_scaled_loss(const Model& model, const Batch& batch, Dtype dtype,
                               Optimizer& optimizer, double scale) {
  const double loss =
      scaled_by<right_pass, step_by<right_pass>>(model, batch, dtype, optimizer, scale);
  return is_half(dtype) ? loss * scale : loss;
}

double scales_in_half(const Model& model, const Batch& batch, Dtype dtype, Optimizer& optimizer,
                      double scale) {
  if (!is_half(dtype)) return step_by<right_pass>(model, batch, dtype, optimizer);
  return scaled_step(model, batch, dtype, optimizer, scale,
                     [&](const auto& loss) { return loss.to(torch::kHalf) * scale; });
}

double rounds_the_unscaled(const Model& model, const Batch& batch, Dtype dtype,
                           Optimizer& optimizer, double scale) {
  if (!is_half(dtype)) return step_by<right_pass>(model, batch, dtype, optimizer);
  optimizer.zero_grad();
  const auto loss = right_pass(model, batch, dtype).loss;
  (loss * scale).backward();
  for (const auto& parameter : model.parameters) {
    parameter.grad().copy_(parameter.grad().div(scale).to(torch::kHalf));
  }
  optimizer.step();
  return loss.item<double>();
}

double scaled_backward_in_the_region(const Model& model, const Batch& batch, Dtype dtype,
                                     Optimizer& optimizer, double scale) {
  const Region region(dtype);
  return scaled_by<right_pass, step_by<right_pass>>(model, batch, dtype, optimizer, scale);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "scales_both",
                   .belief = "every half type needs loss scaling",
                   .hint = "Which exponents does bfloat16 have that float16 lacks?",
                   .caught_by = {"bfloat16_is_not_scaled"}},
                  with_scaled(scales_both)),
    add_bug<Impl>({.name = "scales_neither",
                   .belief = "gradients are float32, so none of them vanishes",
                   .hint = "In which type is a gradient on its way through the layers?",
                   .caught_by = {"float16_keeps_tiny_gradients"}},
                  with_scaled(scales_neither)),
    add_bug<Impl>({.name = "takes_the_dtypes_for_each_other",
                   .belief = "it is bfloat16 that is short of range",
                   .hint = "Which of the two types spends more bits on its exponent?",
                   .caught_by = {"float16_keeps_tiny_gradients", "bfloat16_is_not_scaled"}},
                  with_scaled(takes_the_dtypes_for_each_other)),
    add_bug<Impl>(
        {.name = "never_unscales",
         .belief = "the optimizer does not mind the size of a gradient",
         .hint = "How far does a step go with a gradient that is scale times too long?",
         .caught_by = {"float16_keeps_tiny_gradients", "float16_is_unscaled_before_the_step"}},
        with_scaled(never_unscales)),
    add_bug<Impl>(
        {.name = "unscales_behind_the_step",
         .belief = "the gradients have to be right when the call returns",
         .hint = "Which gradient did optimizer.step() use?",
         .caught_by = {"float16_keeps_tiny_gradients", "float16_is_unscaled_before_the_step"}},
        with_scaled(unscales_behind_the_step)),
    add_bug<Impl>({.name = "divides_bfloat16_too",
                   .belief = "dividing by the scale is right for both dtypes",
                   .hint = "By what was the bfloat16 loss multiplied?",
                   .caught_by = {"bfloat16_is_not_scaled"}},
                  with_scaled(divides_bfloat16_too)),
    add_bug<Impl>({.name = "divides_the_first_only",
                   .belief = "one division unscales the model",
                   .hint = "How many gradients does a loss have?",
                   .caught_by = {"float16_is_unscaled_before_the_step"}},
                  with_scaled(divides_the_first_only)),
    add_bug<Impl>({.name = "divides_the_first_group_only",
                   .belief = "an optimizer has one group of parameters",
                   .hint = "How many elements does optimizer.param_groups() have?",
                   .caught_by = {"float16_is_unscaled_before_the_step"}},
                  with_scaled(divides_the_first_group_only)),
    add_bug<Impl>({.name = "divides_the_learning_rate",
                   .belief = "a shorter step is as good as a shorter gradient",
                   .hint = "By what does weight decay multiply the weights, with your rate?",
                   .caught_by = {"float16_is_unscaled_before_the_step"}},
                  with_scaled(divides_the_learning_rate)),
    add_bug<Impl>(
        {.name = "unscales_twice",
         .belief = "dividing once more makes sure",
         .hint = "What is left of a gradient of 1 that is divided by the scale twice?",
         .caught_by = {"float16_keeps_tiny_gradients", "float16_is_unscaled_before_the_step"}},
        with_scaled(unscales_twice)),
    add_bug<Impl>({.name = "returns_the_scaled_loss",
                   .belief = "the loss to report is the one that backward started from",
                   .hint = "What would a plot of the loss show whenever the scale changes?",
                   .caught_by = {"the_loss_comes_back_unscaled"}},
                  with_scaled(returns_the_scaled_loss)),
    add_bug<Impl>(
        {.name = "scales_in_half",
         .belief = "the loss is scaled in the dtype of the region",
         .hint = "What is a loss of 1e-18 in float16, before it is multiplied by anything?",
         .caught_by = {"float16_keeps_tiny_gradients"}},
        with_scaled(scales_in_half)),
    add_bug<Impl>({.name = "rounds_the_unscaled",
                   .belief = "a gradient of a float16 pass is a float16",
                   .hint = "What is 2e-9 in float16, and what was it worth to scale the loss?",
                   .caught_by = {"float16_keeps_tiny_gradients"}},
                  with_scaled(rounds_the_unscaled)),
    add_bug<Impl>({.name = "scaled_backward_in_the_region",
                   .belief = "with a scale, backward is safe in the region",
                   .hint = "What is the state of autocast while your scaled backward runs?",
                   .caught_by = {"scaled_backward_runs_outside"}},
                  with_scaled(scaled_backward_in_the_region)),
};

}  // namespace
}  // namespace gradlab::autocast_bugs
