// Known mistakes in what clip_gradients writes to and returns.
#include "common.hpp"

namespace gradlab::clipping_bugs {
namespace {

double result_thrown_away(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for_each_gradient(
      parameters, [&](const auto& g) { static_cast<void>(g.mul(coefficient_of(norm, max_norm))); });
  return norm;
}

double gives_a_new_gradient(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for (auto parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    parameter.mutable_grad() = parameter.grad() * coefficient_of(norm, max_norm);
  }
  return norm;
}

double scales_a_contiguous_copy(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for_each_gradient(parameters,
                    [&](const auto& g) { g.contiguous().mul_(coefficient_of(norm, max_norm)); });
  return norm;
}

double scales_the_parameters(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for (const auto& parameter : parameters) parameter.detach().mul_(coefficient_of(norm, max_norm));
  return norm;
}

double last_tensor_left_out(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for (size_t i = 0; i + 1 < parameters.size(); ++i) {
    scale({parameters[i]}, coefficient_of(norm, max_norm));
  }
  return norm;
}

double frozen_not_scaled(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for (const auto& parameter : parameters) {
    if (parameter.requires_grad()) scale({parameter}, coefficient_of(norm, max_norm));
  }
  return norm;
}

double biases_not_scaled(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for (const auto& parameter : parameters) {
    if (parameter.dim() >= 2) scale({parameter}, coefficient_of(norm, max_norm));
  }
  return norm;
}

double scales_side_by_side(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  scale_side_by_side(parameters, coefficient_of(norm, max_norm));
  return norm;
}

double loses_the_sign(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  const double coefficient = coefficient_of(norm, max_norm);
  if (coefficient < 1) {
    for_each_gradient(parameters, [&](auto g) { g.abs_().mul_(coefficient); });
  }
  return norm;
}

double returns_the_norm_after(const Parameters& parameters, double max_norm) {
  clip_by<right_norm>(parameters, max_norm);
  return right_norm(parameters);
}

double returns_the_capped_norm(const Parameters& parameters, double max_norm) {
  return std::min(clip_by<right_norm>(parameters, max_norm), max_norm);
}

double returns_the_coefficient(const Parameters& parameters, double max_norm) {
  return coefficient_of(clip_by<right_norm>(parameters, max_norm), max_norm);
}

double returns_the_limit(const Parameters& parameters, double max_norm) {
  clip_by<right_norm>(parameters, max_norm);
  return max_norm;
}

double returns_the_denominator(const Parameters& parameters, double max_norm) {
  return clip_by<right_norm>(parameters, max_norm) + kEpsilon;
}

double returns_zero(const Parameters& parameters, double max_norm) {
  clip_by<right_norm>(parameters, max_norm);
  return 0;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "result_thrown_away",
                   .belief = "mul changes the tensor that it is called on",
                   .hint = "Which of mul and mul_ changes its tensor, and who keeps the result?",
                   .caught_by = scaled()},
                  built_on_clip<result_thrown_away>()),
    add_bug<Impl>({.name = "gives_a_new_gradient",
                   .belief = "a new tensor in grad() is as good as a changed one",
                   .hint = "Someone held the old gradient before the call. What do they see now?",
                   .caught_by = {"every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place", "the_boundary_step_clips"}},
                  built_on_clip<gives_a_new_gradient>()),
    add_bug<Impl>({.name = "scales_a_contiguous_copy",
                   .belief = "contiguous() always gives the gradient itself",
                   .hint = "What does contiguous() return for a transposed tensor?",
                   .caught_by = {"every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place", "the_boundary_step_clips"}},
                  built_on_clip<scales_a_contiguous_copy>()),
    add_bug<Impl>(
        {.name = "scales_the_parameters",
         .belief = "the parameters are what is clipped",
         .hint = "Which tensor should be shorter after the call: the weight, or its step?",
         .caught_by = scaled()},
        built_on_clip<scales_the_parameters>()),
    add_bug<Impl>({.name = "last_tensor_left_out",
                   .belief = "the loop that scales reaches the last tensor",
                   .hint = "At which index does your second loop end?",
                   .caught_by = scaled()},
                  built_on_clip<last_tensor_left_out>()),
    add_bug<Impl>({.name = "frozen_not_scaled",
                   .belief = "a gradient of a frozen parameter counts, but is left as it is",
                   .hint = "What is the norm of all gradients together after your call?",
                   .caught_by = {"every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place"}},
                  built_on_clip<frozen_not_scaled>()),
    add_bug<Impl>({.name = "biases_not_scaled",
                   .belief = "biases count, but only matrices are clipped",
                   .hint = "What is the norm of all gradients together after your call?",
                   .caught_by = scaled() - "cs336_and_appendix_d3"},
                  built_on_clip<biases_not_scaled>()),
    add_bug<Impl>({.name = "scales_side_by_side",
                   .belief = "numel() elements from data_ptr() on are the gradient",
                   .hint = "Where in memory is the next element of every second column?",
                   .caught_by = {"every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place", "the_boundary_step_clips"}},
                  built_on_clip<scales_side_by_side>()),
    add_bug<Impl>({.name = "loses_the_sign",
                   .belief = "a clipped gradient is made of absolute values",
                   .hint = "Which way should a weight with the gradient -3 move after clipping?",
                   .caught_by = scaled() - "cs336_and_appendix_d3"},
                  built_on_clip<loses_the_sign>()),
    add_bug<Impl>(
        {.name = "returns_the_norm_after",
         .belief = "the norm after clipping is what is wanted",
         .hint = "Could a log that holds your value ever show that a step was clipped?",
         .caught_by = {"norm_before_clipping_is_returned", "returns_the_norm_and_clips_in_place"}},
        built_on_clip<returns_the_norm_after>()),
    add_bug<Impl>(
        {.name = "returns_the_capped_norm",
         .belief = "what is returned is at most max_norm",
         .hint = "Norm 5, limit 1: which of the two should a log of norms show?",
         .caught_by = {"norm_before_clipping_is_returned", "returns_the_norm_and_clips_in_place"}},
        built_on_clip<returns_the_capped_norm>()),
    add_bug<Impl>(
        {.name = "returns_the_coefficient",
         .belief = "the coefficient is what is wanted",
         .hint = "What should a log show for the gradient [3, 4], clipped to 1?",
         .caught_by = {"norm_before_clipping_is_returned", "returns_the_norm_and_clips_in_place"}},
        built_on_clip<returns_the_coefficient>()),
    add_bug<Impl>(
        {.name = "returns_the_limit",
         .belief = "after clipping the norm is max_norm, so that is returned",
         .hint = "The norm of which gradients is returned: before or after clipping?",
         .caught_by = {"norm_before_clipping_is_returned", "returns_the_norm_and_clips_in_place"}},
        built_on_clip<returns_the_limit>()),
    add_bug<Impl>(
        {.name = "returns_the_denominator",
         .belief = "the norm that is returned has the epsilon in it",
         .hint = "What is returned for gradients that are all zero?",
         .caught_by = {"norm_before_clipping_is_returned", "returns_the_norm_and_clips_in_place"}},
        built_on_clip<returns_the_denominator>()),
    add_bug<Impl>(
        {.name = "returns_zero",
         .belief = "nobody looks at what is returned",
         .hint = "What does the contract say that the function returns?",
         .caught_by = {"norm_before_clipping_is_returned", "returns_the_norm_and_clips_in_place"}},
        built_on_clip<returns_zero>()),
};

}  // namespace
}  // namespace gradlab::clipping_bugs
