// Known mistakes in what unscale_gradients finds.
#include "common.hpp"

namespace gradlab::loss_scaling_bugs {
namespace {

// A right unscaling that finds what `bad` says of a gradient.
template <bool (*bad)(const torch::Tensor&)>
void finds(const Groups& groups, double scale, bool& found_inf) {
  for_each_gradient(groups, [&](const auto& gradient) {
    if (bad(gradient)) found_inf = true;
  });
  unscale_only(groups, scale);
}

bool infinite(const torch::Tensor& gradient) { return gradient.isinf().any().item<bool>(); }

bool a_number_no_more(const torch::Tensor& gradient) { return gradient.isnan().any().item<bool>(); }

bool largest_is_bad(const torch::Tensor& gradient) {
  return gradient.numel() > 0 && !std::isfinite(gradient.max().item<double>());
}

bool all_bad(const torch::Tensor& gradient) {
  return gradient.numel() > 0 && !gradient.isfinite().any().item<bool>();
}

bool first_element_bad(const torch::Tensor& gradient) {
  return gradient.numel() > 0 && !gradient.flatten()[0].isfinite().item<bool>();
}

bool sum_is_bad(const torch::Tensor& gradient) {
  return !std::isfinite(gradient.sum().item<double>());
}

bool norm_is_bad(const torch::Tensor& gradient) {
  return !std::isfinite(gradient.norm().item<double>());
}

bool too_large_for_a_half(const torch::Tensor& gradient) {
  return !gradient.to(torch::kFloat16).isfinite().all().item<bool>();
}

void finds_nothing(const Groups& groups, double scale, bool&) { unscale_only(groups, scale); }

void finds_always(const Groups& groups, double scale, bool& found_inf) {
  found_inf = true;
  unscale_only(groups, scale);
}

void last_tensor_decides(const Groups& groups, double scale, bool& found_inf) {
  for_each_gradient(groups, [&](auto gradient) {
    found_inf = !all_finite(gradient);
    gradient.mul_(1 / scale);
  });
}

void first_tensor_decides(const Groups& groups, double scale, bool& found_inf) {
  bool first = true;
  for_each_gradient(groups, [&](auto gradient) {
    if (first && !all_finite(gradient)) found_inf = true;
    first = false;
    gradient.mul_(1 / scale);
  });
}

void clears_it_first(const Groups& groups, double scale, bool& found_inf) {
  found_inf = false;
  right_unscale(groups, scale, found_inf);
}

void turns_it_round(const Groups& groups, double scale, bool& found_inf) {
  bool found = false;
  right_unscale(groups, scale, found);
  if (found) found_inf = !found_inf;
}

void remembers_for_ever(const Groups& groups, double scale, bool& found_inf) {
  static bool found = false;
  right_unscale(groups, scale, found);
  found_inf = found_inf || found;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "looks_for_infinity_only",
                   .belief = "what is not finite is inf",
                   .hint = "Is isinf true of a NaN?",
                   .caught_by = {"inf_and_nan_are_found"}},
                  with_unscale(finds<infinite>)),
    add_bug<Impl>({.name = "looks_for_nan_only",
                   .belief = "what is not finite is NaN",
                   .hint = "Is isnan true of an inf?",
                   .caught_by = {"inf_and_nan_are_found"}},
                  with_unscale(finds<a_number_no_more>)),
    add_bug<Impl>({.name = "misses_minus_infinity",
                   .belief = "a bad element is always the largest",
                   .hint = "What is the largest element of [1, -inf]?",
                   .caught_by = {"inf_and_nan_are_found"}},
                  with_unscale(finds<largest_is_bad>)),
    add_bug<Impl>({.name = "asks_for_all_elements",
                   .belief = "an overflow makes every element inf",
                   .hint = "Of which of the two is one finite element enough: any() or all()?",
                   .caught_by = {"inf_and_nan_are_found"}},
                  with_unscale(finds<all_bad>)),
    add_bug<Impl>({.name = "first_element_decides",
                   .belief = "one element of a gradient shows whether it overflowed",
                   .hint = "What do you see of an inf that stands in the middle?",
                   .caught_by = {"inf_and_nan_are_found"}},
                  with_unscale(finds<first_element_bad>)),
    add_bug<Impl>({.name = "asks_the_sum",
                   .belief = "the sum is finite where the elements are",
                   .hint = "What is 3e38 + 3e38 as a float32?",
                   .caught_by = {"large_gradients_raise_no_alarm"}},
                  with_unscale(finds<sum_is_bad>)),
    add_bug<Impl>({.name = "asks_the_norm",
                   .belief = "the norm is finite where the elements are",
                   .hint = "What is the square of 1e30 as a float32?",
                   .caught_by = {"large_gradients_raise_no_alarm"}},
                  with_unscale(finds<norm_is_bad>)),
    add_bug<Impl>({.name = "limit_of_float16",
                   .belief = "a gradient above 65504 has overflowed",
                   .hint = "Of which type are the gradients that you look at?",
                   .caught_by = {"large_gradients_raise_no_alarm"}},
                  with_unscale(finds<too_large_for_a_half>)),
    add_bug<Impl>({.name = "finds_nothing",
                   .belief = "unscaling is all there is to do",
                   .hint = "How does the loop learn that it must skip this step?",
                   .caught_by = {"every_group_counts", "which_gradients_count",
                                 "inf_and_nan_are_found", "found_inf_is_never_cleared"}},
                  with_unscale(finds_nothing)),
    add_bug<Impl>(
        {.name = "finds_always",
         .belief = "found_inf says that the check was made",
         .hint = "What would a loop do that is told of an overflow at each step?",
         .caught_by = {"every_group_counts", "which_gradients_count", "inf_and_nan_are_found",
                       "large_gradients_raise_no_alarm", "found_inf_is_never_cleared"}},
        with_unscale(finds_always)),
    add_bug<Impl>({.name = "last_tensor_decides",
                   .belief = "found_inf is set anew for each tensor",
                   .hint = "The first tensor holds an inf, the second does not. What is found_inf?",
                   .caught_by = {"every_group_counts", "which_gradients_count",
                                 "inf_and_nan_are_found", "found_inf_is_never_cleared"}},
                  with_unscale(last_tensor_decides)),
    add_bug<Impl>(
        {.name = "first_tensor_decides",
         .belief = "if one gradient overflows, the first one does",
         .hint = "What do you see of a NaN in the last tensor?",
         .caught_by = {"every_group_counts", "which_gradients_count", "inf_and_nan_are_found"}},
        with_unscale(first_tensor_decides)),
    add_bug<Impl>(
        {.name = "clears_it_first",
         .belief = "a call begins with nothing found",
         .hint = "Two optimizers share one found_inf. What does the second call do to it?",
         .caught_by = {"found_inf_is_never_cleared"}},
        with_unscale(clears_it_first)),
    add_bug<Impl>({.name = "turns_it_round",
                   .belief = "a second overflow is noted as the first one was",
                   .hint = "found_inf was true already. What must it be after another inf?",
                   .caught_by = {"found_inf_is_never_cleared"}},
                  with_unscale(turns_it_round)),
    add_bug<Impl>({.name = "remembers_for_ever",
                   .belief = "an overflow is remembered from one step to the next",
                   .hint = "Who clears your own memory when the next step begins?",
                   .caught_by = {"every_group_counts", "which_gradients_count",
                                 "inf_and_nan_are_found", "found_inf_is_never_cleared"}},
                  with_unscale(remembers_for_ever)),
};

}  // namespace
}  // namespace gradlab::loss_scaling_bugs
