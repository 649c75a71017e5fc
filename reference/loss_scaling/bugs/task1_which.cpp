// Known mistakes in which tensors unscale_gradients unscales.
#include "common.hpp"

namespace gradlab::loss_scaling_bugs {
namespace {

void first_group_only(const Groups& groups, double scale, bool& found_inf) {
  if (!groups.empty()) right_unscale({groups.front()}, scale, found_inf);
}

void once_for_each_group(const Groups& groups, double scale, bool& found_inf) {
  for (const auto& group : groups) {
    if (!group.empty()) right_unscale(groups, scale, found_inf);
  }
}

void unscales_the_parameters(const Groups& groups, double scale, bool& found_inf) {
  right_unscale(groups, 1, found_inf);
  for (const auto& group : groups) {
    for (const auto& parameter : group) parameter.detach().mul_(1 / scale);
  }
}

void parameters_too(const Groups& groups, double scale, bool& found_inf) {
  right_unscale(groups, scale, found_inf);
  for (const auto& group : groups) {
    for (const auto& parameter : group) parameter.detach().mul_(1 / scale);
  }
}

void leaves_at_the_first_inf(const Groups& groups, double scale, bool& found_inf) {
  for (const auto& group : groups) {
    for (const auto& parameter : group) {
      if (!parameter.grad().defined()) continue;
      if (!all_finite(parameter.grad())) {
        found_inf = true;
        return;
      }
      parameter.grad().mul_(1 / scale);
    }
  }
}

void passes_over_bad_tensors(const Groups& groups, double scale, bool& found_inf) {
  for_each_gradient(groups, [&](auto gradient) {
    if (all_finite(gradient)) {
      gradient.mul_(1 / scale);
    } else {
      found_inf = true;
    }
  });
}

void stops_at_a_missing_gradient(const Groups& groups, double scale, bool& found_inf) {
  for (const auto& group : groups) {
    for (const auto& parameter : group) {
      if (!parameter.grad().defined()) break;
      right_unscale({{parameter}}, scale, found_inf);
    }
  }
}

void expects_a_gradient(const Groups& groups, double scale, bool& found_inf) {
  for (const auto& group : groups) {
    for (const auto& parameter : group) {
      if (!all_finite(parameter.grad())) found_inf = true;
      parameter.grad().mul_(1 / scale);
    }
  }
}

void makes_zero_gradients(const Groups& groups, double scale, bool& found_inf) {
  for (const auto& group : groups) {
    for (auto parameter : group) {
      if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    }
  }
  right_unscale(groups, scale, found_inf);
}

void frozen_left_out(const Groups& groups, double scale, bool& found_inf) {
  for (const auto& group : groups) {
    for (const auto& parameter : group) {
      if (parameter.requires_grad()) right_unscale({{parameter}}, scale, found_inf);
    }
  }
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "first_group_only",
                   .belief = "the first parameter group holds all parameters",
                   .hint = "What happens to a parameter that was added in a second group?",
                   .caught_by = {"every_group_counts"}},
                  with_unscale(first_group_only)),
    add_bug<Impl>({.name = "once_for_each_group",
                   .belief = "every pass over the groups may unscale all parameters",
                   .hint = "With two groups, how often is each gradient divided?",
                   .caught_by = {"every_group_counts"}},
                  with_unscale(once_for_each_group)),
    add_bug<Impl>({.name = "unscales_the_parameters",
                   .belief = "the parameters carry the scale",
                   .hint = "Which tensors did backward write into: parameters, or their grad()?",
                   .caught_by = {"gradients_are_divided_by_the_scale", "any_scale_will_do",
                                 "every_group_counts", "the_rest_is_unscaled_whatever_is_found",
                                 "in_place_and_in_its_own_type", "which_gradients_count"}},
                  with_unscale(unscales_the_parameters)),
    add_bug<Impl>({.name = "parameters_too",
                   .belief = "a parameter belongs to its gradient and is unscaled with it",
                   .hint = "Was the parameter ever multiplied by the scale?",
                   .caught_by = {"which_gradients_count"}},
                  with_unscale(parameters_too)),
    add_bug<Impl>({.name = "leaves_at_the_first_inf",
                   .belief = "once inf is found nothing else matters",
                   .hint = "In which state are the finite gradients that you did not reach?",
                   .caught_by = {"the_rest_is_unscaled_whatever_is_found"}},
                  with_unscale(leaves_at_the_first_inf)),
    add_bug<Impl>({.name = "passes_over_bad_tensors",
                   .belief = "a gradient with an inf needs no unscaling",
                   .hint = "What happens to the finite elements beside the inf?",
                   .caught_by = {"the_rest_is_unscaled_whatever_is_found"}},
                  with_unscale(passes_over_bad_tensors)),
    add_bug<Impl>({.name = "stops_at_a_missing_gradient",
                   .belief = "behind a parameter without a gradient there is nothing",
                   .hint = "What is the difference between break and continue?",
                   .caught_by = {"which_gradients_count"}},
                  with_unscale(stops_at_a_missing_gradient)),
    add_bug<Impl>({.name = "expects_a_gradient",
                   .belief = "every parameter has a gradient",
                   .hint = "What is grad() of a parameter that no backward came to?",
                   .caught_by = {"which_gradients_count"}},
                  with_unscale(expects_a_gradient)),
    add_bug<Impl>({.name = "makes_zero_gradients",
                   .belief = "no gradient means a gradient of 0",
                   .hint = "What does an optimizer with momentum do with a gradient of 0?",
                   .caught_by = {"which_gradients_count"}},
                  with_unscale(makes_zero_gradients)),
    add_bug<Impl>(
        {.name = "frozen_left_out",
         .belief = "a frozen parameter's gradient is not to be unscaled",
         .hint = "Which question does the contract ask: requires_grad, or grad().defined()?",
         .caught_by = {"which_gradients_count"}},
        with_unscale(frozen_left_out)),
};

}  // namespace
}  // namespace gradlab::loss_scaling_bugs
