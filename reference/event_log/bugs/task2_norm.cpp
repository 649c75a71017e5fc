// Known mistakes in true_norm.
#include "common.hpp"

namespace gradlab::event_log_bugs {
namespace {

double always_divides(const Gradients& gradients, double scale, bool) {
  return right_norm(gradients, scale, false);
}

double never_divides(const Gradients& gradients, double scale, bool) {
  return right_norm(gradients, scale, true);
}

double divides_the_unscaled(const Gradients& gradients, double scale, bool unscaled) {
  return right_norm(gradients, scale, !unscaled);
}

double multiplies(const Gradients& gradients, double scale, bool unscaled) {
  return right_norm(gradients, 1 / scale, unscaled);
}

double divides_the_squares(const Gradients& gradients, double scale, bool unscaled) {
  return right_norm(gradients, std::sqrt(scale), unscaled);
}

// A norm of each gradient by `norm`, and a right norm of those.
template <typename Norm>
double norm_of_norms(const Gradients& gradients, Norm norm) {
  double squares = 0;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) squares += std::pow(norm(gradient).template item<double>(), 2);
  }
  return std::sqrt(squares);
}

double norm_in_half(const Gradients& gradients, double scale, bool unscaled) {
  const auto own = [](const torch::Tensor& gradient) { return gradient.norm(); };
  return norm_of_norms(gradients, own) / (unscaled ? 1 : scale);
}

double divides_in_half(const Gradients& gradients, double scale, bool unscaled) {
  Gradients divided;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) divided.push_back(unscaled ? gradient : gradient / scale);
  }
  return right_norm(divided, 1, true);
}

double sum_of_norms(const Gradients& gradients, double scale, bool unscaled) {
  double sum = 0;
  for (const auto& gradient : gradients) sum += right_norm({gradient}, scale, unscaled);
  return sum;
}

double stops_at_a_missing_one(const Gradients& gradients, double scale, bool unscaled) {
  Gradients first;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) break;
    first.push_back(gradient);
  }
  return right_norm(first, scale, unscaled);
}

double finite_ones_only(const Gradients& gradients, double scale, bool unscaled) {
  Gradients finite;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) finite.push_back(torch::nan_to_num(gradient, 0, 0, 0));
  }
  return right_norm(finite, scale, unscaled);
}

double unscales_in_place(const Gradients& gradients, double scale, bool unscaled) {
  for (const auto& gradient : gradients) {
    if (gradient.defined() && !unscaled) gradient.div_(scale);
  }
  return right_norm(gradients, scale, true);
}

double largest_of_all(const Gradients& gradients, double scale, bool unscaled) {
  double largest = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    const double here = gradient.abs().max().item<double>();
    if (!(here <= largest)) largest = here;
  }
  return largest / (unscaled ? 1 : scale);
}

Checks every_norm() {
  return {"divided_only_while_still_scaled", "half_types_are_summed_wider",
          "norm_of_all_gradients"};
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "always_divides",
                   .belief = "gradients of a loss that was scaled have to be divided by the scale",
                   .hint = "What has unscale_ done to them?",
                   .caught_by = every_norm()},
                  with_norm(always_divides)),
    add_bug<Impl>({.name = "never_divides",
                   .belief = "a norm is a norm",
                   .hint = "What is left in a gradient of 2 by backward at a scale of 1024?",
                   .caught_by = every_norm()},
                  with_norm(never_divides)),
    add_bug<Impl>({.name = "divides_the_unscaled",
                   .belief = "unscaled means that it has yet to be divided",
                   .hint = "What does the contract say that `unscaled` means?",
                   .caught_by = every_norm()},
                  with_norm(divides_the_unscaled)),
    add_bug<Impl>({.name = "multiplies_by_the_scale",
                   .belief = "a true norm is the norm times the scale",
                   .hint = "Which of the two was multiplied by the scale: the loss that backward "
                           "started from, or the gradients that you want?",
                   .caught_by = every_norm()},
                  with_norm(multiplies)),
    add_bug<Impl>({.name = "divides_the_squares",
                   .belief = "the sum of squares is divided by the scale",
                   .hint = "By what is a square multiplied, if its root is multiplied by 4?",
                   .caught_by = every_norm()},
                  with_norm(divides_the_squares)),
    add_bug<Impl>({.name = "norm_in_half",
                   .belief = "norm() of a float16 tensor is as good as one of float32",
                   .hint = "In which type does norm() return, and what is its largest number?",
                   .caught_by = {"half_types_are_summed_wider"}},
                  with_norm(norm_in_half)),
    add_bug<Impl>({.name = "divides_in_half",
                   .belief = "dividing elements and dividing their norm are the same",
                   .hint = "What is 0.001 / 65536 as a float16?",
                   .caught_by = {"half_types_are_summed_wider"}},
                  with_norm(divides_in_half)),
    add_bug<Impl>({.name = "sum_of_norms",
                   .belief = "the norm of all is the sum of the norms",
                   .hint = "What is the norm of [3, 4], and what are those of [3] and [4]?",
                   .caught_by = every_norm()},
                  with_norm(sum_of_norms)),
    add_bug<Impl>({.name = "stops_at_a_missing_one",
                   .belief = "after a parameter without a gradient there are no more",
                   .hint = "Which layers have no gradient when one of them is frozen?",
                   .caught_by = {"norm_of_all_gradients"}},
                  with_norm(stops_at_a_missing_one)),
    add_bug<Impl>({.name = "finite_ones_only",
                   .belief = "inf and NaN would spoil the norm",
                   .hint = "Who should see them, if your norm hides them?",
                   .caught_by = {"norm_of_all_gradients"}},
                  with_norm(finite_ones_only)),
    add_bug<Impl>({.name = "unscales_in_place",
                   .belief = "measuring may unscale on its way",
                   .hint = "What will unscale_ do to these gradients after you?",
                   .caught_by = every_norm()},
                  with_norm(unscales_in_place)),
    add_bug<Impl>({.name = "largest_of_all",
                   .belief = "the norm is the largest element",
                   .hint = "What is the L2 norm of [3, 4]?",
                   .caught_by = every_norm()},
                  with_norm(largest_of_all)),
};

}  // namespace
}  // namespace gradlab::event_log_bugs
