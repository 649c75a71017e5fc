// Known mistakes in the coefficient of clip_gradients, and in when it is applied.
#include "common.hpp"

namespace gradlab::clipping_bugs {
namespace {

double clips_each_tensor(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for_each_gradient(parameters,
                    [&](auto g) { g.mul_(coefficient_of(std::sqrt(square_sum(g)), max_norm)); });
  return norm;
}

double clips_each_value(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for_each_gradient(parameters, [&](auto g) { g.clamp_(-max_norm, max_norm); });
  return norm;
}

double scales_always(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  scale(parameters, max_norm / (norm + kEpsilon));
  return norm;
}

double clamps_from_below(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  scale(parameters, std::max(1.0, max_norm / (norm + kEpsilon)));
  return norm;
}

double inverts_the_coefficient(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  scale(parameters, std::min(1.0, norm / (max_norm + kEpsilon)));
  return norm;
}

double multiplies_by_the_limit(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  if (norm > max_norm) scale(parameters, max_norm);
  return norm;
}

double compares_the_square(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  if (norm * norm > max_norm) scale(parameters, max_norm / (norm + kEpsilon));
  return norm;
}

double epsilon_missing(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  if (norm > max_norm) scale(parameters, max_norm / norm);
  return norm;
}

double epsilon_after_the_division(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  if (norm > max_norm) scale(parameters, max_norm / norm + kEpsilon);
  return norm;
}

double epsilon_as_a_floor(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  scale(parameters, std::min(1.0, max_norm / std::max(norm, kEpsilon)));
  return norm;
}

double epsilon_too_large(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  scale(parameters, std::min(1.0, max_norm / (norm + 1e-2)));
  return norm;
}

double epsilon_of_adam(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  scale(parameters, std::min(1.0, max_norm / (norm + 1e-8)));
  return norm;
}

double zero_limit_means_off(const Parameters& parameters, double max_norm) {
  if (max_norm == 0) return right_norm(parameters);
  return clip_by<right_norm>(parameters, max_norm);
}

double coefficient_in_float(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  scale(parameters, static_cast<float>(coefficient_of(norm, max_norm)));
  return norm;
}

double recomputes_the_norm(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  for (const auto& parameter : parameters) {
    scale({parameter}, coefficient_of(right_norm(parameters), max_norm));
  }
  return norm;
}

double coefficient_is_kept(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  static const double coefficient = coefficient_of(norm, max_norm);
  scale(parameters, coefficient);
  return norm;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "clips_each_tensor",
                   .belief = "each tensor is clipped on its own",
                   .hint = "Of [3] and [4], clipped to 1: which direction should the step keep?",
                   .caught_by = scaled()},
                  built_on_clip<clips_each_tensor>()),
    add_bug<Impl>({.name = "clips_each_value",
                   .belief = "max_norm limits each element",
                   .hint = "Does [3, 4] still point the same way when both become 1?",
                   .caught_by = scaled()},
                  built_on_clip<clips_each_value>()),
    add_bug<Impl>({.name = "scales_always",
                   .belief = "clipping brings the norm to the limit, also from below it",
                   .hint = "What should happen when the norm is already small enough?",
                   .caught_by = small()},
                  built_on_clip<scales_always>()),
    add_bug<Impl>({.name = "clamps_from_below",
                   .belief = "the coefficient is at least 1",
                   .hint = "To make a vector shorter, what must its coefficient be below?",
                   .caught_by = scaled() + small()},
                  built_on_clip<clamps_from_below>()),
    add_bug<Impl>({.name = "inverts_the_coefficient",
                   .belief = "the coefficient is the norm over the limit",
                   .hint = "Norm 5, limit 1: by what do you multiply to get from 5 to 1?",
                   .caught_by = scaled() + small()},
                  built_on_clip<inverts_the_coefficient>()),
    add_bug<Impl>({.name = "multiplies_by_the_limit",
                   .belief = "a large gradient is multiplied by max_norm",
                   .hint = "Norm 100, limit 10: what is the norm after your multiplication?",
                   .caught_by = scaled()},
                  built_on_clip<multiplies_by_the_limit>()),
    add_bug<Impl>({.name = "compares_the_square",
                   .belief = "the squared norm can be compared with the limit",
                   .hint = "Norm 5, limit 10: is 25 what should be compared with 10?",
                   .caught_by = small() + "tiny_limits_follow_the_formula"},
                  built_on_clip<compares_the_square>()),
    add_bug<Impl>({.name = "epsilon_missing",
                   .belief = "the epsilon is only there against a division by zero",
                   .hint = "With a norm of 5e-7, how much do 1e-6 change the denominator?",
                   .caught_by = {"tiny_limits_follow_the_formula"}},
                  built_on_clip<epsilon_missing>()),
    add_bug<Impl>(
        {.name = "epsilon_after_the_division",
         .belief = "the epsilon is added to the quotient",
         .hint = "What stands under the fraction bar in the formula?",
         .caught_by = scaled() - "a_second_call_stays_at_the_limit" - "calls_share_no_state"},
        built_on_clip<epsilon_after_the_division>()),
    add_bug<Impl>({.name = "epsilon_as_a_floor",
                   .belief = "the epsilon is the least that the norm may be",
                   .hint = "Is the epsilon added to the norm, or compared with it?",
                   .caught_by = {"tiny_limits_follow_the_formula"}},
                  built_on_clip<epsilon_as_a_floor>()),
    add_bug<Impl>(
        {.name = "epsilon_too_large",
         .belief = "any small epsilon will do, such as 1e-2",
         .hint = "Norm 0.02, limit 0.01: with 1e-2 in the denominator, which norm is left?",
         .caught_by = scaled() + small()},
        built_on_clip<epsilon_too_large>()),
    add_bug<Impl>({.name = "epsilon_of_adam",
                   .belief = "the epsilon is 1e-8, as in Adam",
                   .hint = "Clipping has an epsilon of its own: which one does the contract name?",
                   .caught_by = {"tiny_limits_follow_the_formula"}},
                  built_on_clip<epsilon_of_adam>()),
    add_bug<Impl>({.name = "zero_limit_means_off",
                   .belief = "a limit of 0 switches clipping off",
                   .hint = "What does the formula give for max_norm 0?",
                   .caught_by = {"tiny_limits_follow_the_formula"}},
                  built_on_clip<zero_limit_means_off>()),
    add_bug<Impl>({.name = "coefficient_in_float",
                   .belief = "the coefficient may be a float",
                   .hint = "How many digits of a float64 gradient survive a float coefficient?",
                   .caught_by = {"float64_stays_double"}},
                  built_on_clip<coefficient_in_float>()),
    add_bug<Impl>({.name = "recomputes_the_norm",
                   .belief = "the norm can be asked for again before each tensor is scaled",
                   .hint = "What is the norm of all gradients once the first of them is scaled?",
                   .caught_by = scaled()},
                  built_on_clip<recomputes_the_norm>()),
    add_bug<Impl>({.name = "coefficient_is_kept",
                   .belief = "a static coefficient is computed in each call",
                   .hint = "When is the initializer of a static variable run?",
                   .caught_by = scaled()},
                  built_on_clip<coefficient_is_kept>()),
};

}  // namespace
}  // namespace gradlab::clipping_bugs
