// Known mistakes in what unscale_gradients makes of a gradient.
#include "common.hpp"

namespace gradlab::loss_scaling_bugs {
namespace {

void multiplies_by_the_scale(const Groups& groups, double scale, bool& found_inf) {
  right_unscale(groups, 1 / scale, found_inf);
}

void only_looks(const Groups& groups, double, bool& found_inf) {
  right_unscale(groups, 1, found_inf);
}

void scale_is_a_whole_number(const Groups& groups, double scale, bool& found_inf) {
  right_unscale(groups, static_cast<double>(static_cast<int64_t>(scale)), found_inf);
}

void never_enlarges(const Groups& groups, double scale, bool& found_inf) {
  right_unscale(groups, std::max(scale, 1.0), found_inf);
}

void new_tensors(const Groups& groups, double scale, bool& found_inf) {
  for (const auto& group : groups) {
    for (auto parameter : group) {
      if (!parameter.grad().defined()) continue;
      if (!all_finite(parameter.grad())) found_inf = true;
      parameter.mutable_grad() = parameter.grad() / scale;
    }
  }
}

void scales_a_copy_of_gaps(const Groups& groups, double scale, bool& found_inf) {
  for_each_gradient(groups, [&](auto gradient) {
    if (!all_finite(gradient)) found_inf = true;
    gradient.contiguous().mul_(1 / scale);
  });
}

void divides_in_its_own_type(const Groups& groups, double scale, bool& found_inf) {
  for_each_gradient(groups, [&](auto gradient) {
    if (!all_finite(gradient)) found_inf = true;
    gradient.div_(torch::full({}, scale, torch::kFloat64).to(gradient.scalar_type()));
  });
}

void by_way_of_float32(const Groups& groups, double scale, bool& found_inf) {
  for_each_gradient(groups, [&](auto gradient) {
    if (!all_finite(gradient)) found_inf = true;
    gradient.copy_(gradient.to(torch::kFloat32) / scale);
  });
}

void mends_what_is_not_finite(const Groups& groups, double scale, bool& found_inf) {
  right_unscale(groups, scale, found_inf);
  for_each_gradient(groups, [](auto gradient) { gradient.nan_to_num_(0, 0, 0); });
}

void zeroes_on_overflow(const Groups& groups, double scale, bool& found_inf) {
  right_unscale(groups, scale, found_inf);
  if (found_inf) for_each_gradient(groups, [](auto gradient) { gradient.zero_(); });
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "multiplies_by_the_scale",
                   .belief = "unscaling multiplies by the scale once more",
                   .hint = "By what must 1024 times a gradient be multiplied to give the gradient?",
                   .caught_by = {"gradients_are_divided_by_the_scale", "any_scale_will_do",
                                 "every_group_counts", "the_rest_is_unscaled_whatever_is_found",
                                 "in_place_and_in_its_own_type", "which_gradients_count"}},
                  with_unscale(multiplies_by_the_scale)),
    add_bug<Impl>({.name = "only_looks",
                   .belief = "the check changes nothing, and unscaling is the optimizer's task",
                   .hint = "How large is a step that the optimizer takes with what you leave?",
                   .caught_by = {"gradients_are_divided_by_the_scale", "any_scale_will_do",
                                 "every_group_counts", "the_rest_is_unscaled_whatever_is_found",
                                 "in_place_and_in_its_own_type", "which_gradients_count"}},
                  with_unscale(only_looks)),
    add_bug<Impl>({.name = "scale_is_a_whole_number",
                   .belief = "a scale is a whole number",
                   .hint = "What is left of a scale of 0.75 in an integer?",
                   .caught_by = {"any_scale_will_do"}},
                  with_unscale(scale_is_a_whole_number)),
    add_bug<Impl>({.name = "never_enlarges",
                   .belief = "a scale is never below 1",
                   .hint = "After many overflows the scale is 0.5. What is 1 / scale then?",
                   .caught_by = {"any_scale_will_do"}},
                  with_unscale(never_enlarges)),
    add_bug<Impl>({.name = "new_tensors",
                   .belief = "to assign a new gradient is as good as to change it",
                   .hint = "Someone held grad() before your call. What does that tensor hold now?",
                   .caught_by = {"in_place_and_in_its_own_type"}},
                  with_unscale(new_tensors)),
    add_bug<Impl>({.name = "scales_a_copy_of_gaps",
                   .belief = "contiguous() and reshape() give the same memory",
                   .hint = "What does contiguous() return for a transposed tensor?",
                   .caught_by = {"in_place_and_in_its_own_type"}},
                  with_unscale(scales_a_copy_of_gaps)),
    add_bug<Impl>({.name = "divides_in_its_own_type",
                   .belief = "the scale may be cast to the gradient's type",
                   .hint = "What is 65536 as a float16?",
                   .caught_by = {"any_scale_will_do", "in_place_and_in_its_own_type"}},
                  with_unscale(divides_in_its_own_type)),
    add_bug<Impl>({.name = "by_way_of_float32",
                   .belief = "float32 is wide enough for every gradient",
                   .hint = "How many digits of a float64 does float32 keep?",
                   .caught_by = {"gradients_are_divided_by_the_scale"}},
                  with_unscale(by_way_of_float32)),
    add_bug<Impl>({.name = "mends_what_is_not_finite",
                   .belief = "inf and NaN are replaced by 0 once they were noted",
                   .hint = "Who could still find out afterwards which gradient overflowed?",
                   .caught_by = {"the_rest_is_unscaled_whatever_is_found"}},
                  with_unscale(mends_what_is_not_finite)),
    add_bug<Impl>({.name = "zeroes_on_overflow",
                   .belief = "a step that will be skipped wants gradients of 0",
                   .hint = "Whose task is it to zero gradients, and at which moment?",
                   .caught_by = {"the_rest_is_unscaled_whatever_is_found"}},
                  with_unscale(zeroes_on_overflow)),
};

}  // namespace
}  // namespace gradlab::loss_scaling_bugs
