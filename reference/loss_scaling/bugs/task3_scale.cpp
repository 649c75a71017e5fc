// Known mistakes in smallest_saving_scale.
#include "common.hpp"

namespace gradlab::loss_scaling_bugs {
namespace {

// The right way with one thing another: which magnitude decides, the border that it must pass, what
// is too large, and what is said where there is nothing to save or no such scale.
struct Way {
  double (*decisive)(const torch::Tensor& magnitudes) = smallest_of;
  double border = kLost;
  double too_large = kInfinite;
  double for_nothing = 1;
};

template <Way way>
double by(const Gradients& gradients) {
  const auto magnitudes = magnitudes_of(gradients);
  if (magnitudes.numel() == 0) return way.for_nothing;
  const double scale = power_above(way.decisive(magnitudes), way.border);
  return largest_of(magnitudes) * scale < way.too_large ? scale : 0;
}

double mean_of(const torch::Tensor& magnitudes) { return magnitudes.mean().item<double>(); }

double from_one_on(const Gradients& gradients) {
  const double right = right_saving_scale(gradients);
  if (right == 0 || right >= 1) return right;
  return largest_of(magnitudes_of(gradients)) < kInfinite ? 1 : 0;
}

double one_where_none_is_safe(const Gradients& gradients) {
  const double right = right_saving_scale(gradients);
  return right == 0 ? 1 : right;
}

double the_largest_below_where_none_is_safe(const Gradients& gradients) {
  const double right = right_saving_scale(gradients);
  if (right != 0) return right;
  double scale = 0x1p-120;
  while (largest_of(magnitudes_of(gradients)) * scale * 2 < kInfinite) scale *= 2;
  return scale;
}

double a_tie_is_enough(const Gradients& gradients) {
  const auto magnitudes = magnitudes_of(gradients);
  if (magnitudes.numel() == 0) return 1;
  double scale = 0x1p-120;
  while (smallest_of(magnitudes) * scale < kLost) scale *= 2;
  return largest_of(magnitudes) * scale < kInfinite ? scale : 0;
}

double one_doubling_more(const Gradients& gradients) {
  const auto magnitudes = magnitudes_of(gradients);
  if (magnitudes.numel() == 0) return 1;
  const double scale = 2 * power_above(smallest_of(magnitudes), kLost);
  return largest_of(magnitudes) * scale < kInfinite ? scale : 0;
}

double the_largest_that_is_safe(const Gradients& gradients) {
  const auto magnitudes = magnitudes_of(gradients);
  if (magnitudes.numel() == 0) return 1;
  if (right_saving_scale(gradients) == 0) return 0;
  double scale = 0x1p-120;
  while (largest_of(magnitudes) * scale * 2 < kInfinite) scale *= 2;
  return scale;
}

double no_power_of_two(const Gradients& gradients) {
  const double right = right_saving_scale(gradients);
  const auto magnitudes = magnitudes_of(gradients);
  if (right == 0 || magnitudes.numel() == 0) return right;
  return 0x1p-24 / smallest_of(magnitudes);
}

double the_exponent(const Gradients& gradients) {
  const double right = right_saving_scale(gradients);
  return right == 0 || magnitudes_of(gradients).numel() == 0 ? right : std::log2(right);
}

double zero_is_the_smallest(const Gradients& gradients) {
  for (const auto& gradient : gradients) {
    if (gradient.defined() && (gradient == 0).any().item<bool>()) return 1;
  }
  return right_saving_scale(gradients);
}

double signed_smallest(const Gradients& gradients) {
  const auto magnitudes = magnitudes_of(gradients);
  if (magnitudes.numel() == 0) return 1;
  double smallest = std::numeric_limits<double>::infinity();
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    const auto positive = gradient.masked_select(gradient > 0);
    if (positive.numel() > 0) smallest = std::min(smallest, positive.min().item<double>());
  }
  const double scale = power_above(smallest, kLost);
  return largest_of(magnitudes) * scale < kInfinite ? scale : 0;
}

double each_tensor_by_itself(const Gradients& gradients) {
  double largest = 0;
  for (const auto& gradient : gradients) {
    if (magnitudes_of({gradient}).numel() == 0) continue;
    const double scale = right_saving_scale({gradient});
    if (scale == 0) return 0;
    largest = std::max(largest, scale);
  }
  return largest == 0 ? 1 : largest;
}

double first_tensor_decides_it(const Gradients& gradients) {
  for (const auto& gradient : gradients) {
    if (magnitudes_of({gradient}).numel() > 0) return right_saving_scale({gradient});
  }
  return 1;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "never_looks_for_overflow",
                   .belief = "a scale that saves the smallest gradient will do",
                   .hint = "What becomes of the largest gradient at that scale?",
                   .caught_by = {"no_scale_makes_inf"}},
                  with_saving_scale(by<Way{.too_large = 1e300}>)),
    add_bug<Impl>({.name = "what_is_above_65504_is_inf",
                   .belief = "what is larger than the largest float16 becomes inf",
                   .hint = "To which float16 is 65510 rounded?",
                   .caught_by = {"no_scale_makes_inf"}},
                  with_saving_scale(by<Way{.too_large = 65504.0000001}>)),
    add_bug<Impl>({.name = "one_where_none_is_safe",
                   .belief = "where no scale is safe, to leave the loss unscaled is",
                   .hint = "What does the contract return where none will do?",
                   .caught_by = {"no_scale_makes_inf"}},
                  with_saving_scale(one_where_none_is_safe)),
    add_bug<Impl>({.name = "the_largest_where_none_is_safe",
                   .belief = "where not all can be saved, save as many as can be",
                   .hint = "What does the contract return where none will do?",
                   .caught_by = {"no_scale_makes_inf"}},
                  with_saving_scale(the_largest_below_where_none_is_safe)),
    add_bug<Impl>({.name = "searches_from_one_on",
                   .belief = "the smallest scale is 1",
                   .hint = "Is 0.5 a power of two?",
                   .caught_by = {"scales_below_one"}},
                  with_saving_scale(from_one_on)),
    add_bug<Impl>({.name = "a_tie_is_enough",
                   .belief = "2^-25 is rounded up to the smallest float16",
                   .hint = "What is 2^-25 as a float16?",
                   .caught_by = {"a_tie_needs_one_more_doubling"}},
                  with_saving_scale(a_tie_is_enough)),
    add_bug<Impl>({.name = "up_to_a_normal_number",
                   .belief = "only normal numbers are saved",
                   .hint = "What is the smallest float16 that is not 0, with subnormals?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "a_tie_needs_one_more_doubling", "no_scale_makes_inf",
                                 "scales_below_one", "zeros_need_no_saving"}},
                  with_saving_scale(by<Way{.border = 0x1p-14}>)),
    add_bug<Impl>({.name = "one_doubling_more",
                   .belief = "a scale above the border needs one doubling in reserve",
                   .hint = "Does half of the scale that you return save them all as well?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "a_tie_needs_one_more_doubling", "no_scale_makes_inf",
                                 "scales_below_one", "zeros_need_no_saving"}},
                  with_saving_scale(one_doubling_more)),
    add_bug<Impl>({.name = "the_largest_that_is_safe",
                   .belief = "the best scale is the largest that does not overflow",
                   .hint = "Which one is asked for: the smallest, or the largest?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "a_tie_needs_one_more_doubling", "no_scale_makes_inf",
                                 "scales_below_one", "zeros_need_no_saving"}},
                  with_saving_scale(the_largest_that_is_safe)),
    add_bug<Impl>({.name = "no_power_of_two",
                   .belief = "the ratio of 2^-24 and the smallest gradient is the scale",
                   .hint = "Is what you return a power of two?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "a_tie_needs_one_more_doubling", "no_scale_makes_inf",
                                 "scales_below_one", "zeros_need_no_saving"}},
                  with_saving_scale(no_power_of_two)),
    add_bug<Impl>({.name = "returns_the_exponent",
                   .belief = "the power is its exponent",
                   .hint = "Which number would the loss be multiplied by: 5, or 2^5?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "a_tie_needs_one_more_doubling", "no_scale_makes_inf",
                                 "scales_below_one", "zeros_need_no_saving"}},
                  with_saving_scale(the_exponent)),
    add_bug<Impl>({.name = "largest_gradient_decides",
                   .belief = "when the largest gradient is saved they all are",
                   .hint = "Which gradient is the first to vanish?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "no_scale_makes_inf", "scales_below_one", "zeros_need_no_saving"}},
                  with_saving_scale(by<Way{.decisive = largest_of}>)),
    add_bug<Impl>({.name = "mean_decides",
                   .belief = "the scale must fit the gradients on average",
                   .hint = "What happens to those that are far below the average?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "no_scale_makes_inf", "scales_below_one", "zeros_need_no_saving"}},
                  with_saving_scale(by<Way{.decisive = mean_of}>)),
    add_bug<Impl>({.name = "zero_is_the_smallest",
                   .belief = "the smallest magnitude decides, and a 0 has none to save",
                   .hint = "What is the smallest magnitude of [0, 1e-9] that is not 0?",
                   .caught_by = {"zeros_need_no_saving"}},
                  with_saving_scale(zero_is_the_smallest)),
    add_bug<Impl>({.name = "negative_ones_are_forgotten",
                   .belief = "the smallest gradient is the smallest positive one",
                   .hint = "Is -1e-10 saved at your scale?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "a_tie_needs_one_more_doubling", "scales_below_one",
                                 "zeros_need_no_saving"}},
                  with_saving_scale(signed_smallest)),
    add_bug<Impl>({.name = "overflow_within_each_tensor",
                   .belief = "a tensor overflows only at the scale that it needs itself",
                   .hint = "Is the scale of the first tensor safe for the second one, too?",
                   .caught_by = {"no_scale_makes_inf"}},
                  with_saving_scale(each_tensor_by_itself)),
    add_bug<Impl>({.name = "first_tensor_decides_the_scale",
                   .belief = "one tensor stands for all",
                   .hint = "Does the second tensor of the list hold a smaller gradient?",
                   .caught_by = {"hand_worked_scales", "the_smallest_that_saves_all",
                                 "no_scale_makes_inf", "scales_below_one", "zeros_need_no_saving"}},
                  with_saving_scale(first_tensor_decides_it)),
    add_bug<Impl>({.name = "zero_for_nothing",
                   .belief = "where there is nothing to save there is no scale",
                   .hint = "What does the contract return where all elements are 0?",
                   .caught_by = {"nothing_to_save_gives_one"}},
                  with_saving_scale(by<Way{.for_nothing = 0}>)),
};

}  // namespace
}  // namespace gradlab::loss_scaling_bugs
