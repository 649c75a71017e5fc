// Known mistakes in clip_gradients_checked: what is taken for finite, and what happens otherwise.
#include "common.hpp"

namespace gradlab::clipping_bugs {
namespace {

constexpr Clip kClip = clip_by<right_norm>;

[[noreturn]] void refuse() { throw std::runtime_error("the norm is not finite"); }

double checks_nothing(const Parameters& parameters, double max_norm) {
  return kClip(parameters, max_norm);
}

double looks_for_infinity_only(const Parameters& parameters, double max_norm) {
  if (std::isinf(right_norm(parameters))) refuse();
  return kClip(parameters, max_norm);
}

double looks_for_nan_only(const Parameters& parameters, double max_norm) {
  if (std::isnan(right_norm(parameters))) refuse();
  return kClip(parameters, max_norm);
}

double checks_the_first_tensor(const Parameters& parameters, double max_norm) {
  for (const auto& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    if (!parameter.grad().isfinite().all().item<bool>()) refuse();
    break;
  }
  return kClip(parameters, max_norm);
}

double misses_minus_infinity(const Parameters& parameters, double max_norm) {
  for_each_gradient(parameters, [](const auto& g) {
    if (g.numel() > 0 && !std::isfinite(g.max().template item<double>())) refuse();
  });
  return kClip(parameters, max_norm);
}

double throws_after_clipping(const Parameters& parameters, double max_norm) {
  const double norm = kClip(parameters, max_norm);
  if (!std::isfinite(norm)) refuse();
  return norm;
}

double throws_another_type(const Parameters& parameters, double max_norm) {
  TORCH_CHECK(std::isfinite(right_norm(parameters)), "the norm is not finite");
  return kClip(parameters, max_norm);
}

double throws_a_text_or_a_number(const Parameters& parameters, double max_norm) {
  if (!std::isfinite(right_norm(parameters))) throw "the norm is not finite";
  return kClip(parameters, max_norm);
}

double returns_quietly(const Parameters& parameters, double max_norm) {
  const double norm = right_norm(parameters);
  return std::isfinite(norm) ? kClip(parameters, max_norm) : norm;
}

double zeroes_the_gradients(const Parameters& parameters, double max_norm) {
  if (!std::isfinite(right_norm(parameters))) {
    for_each_gradient(parameters, [](auto g) { g.zero_(); });
    refuse();
  }
  return kClip(parameters, max_norm);
}

double mends_the_gradients(const Parameters& parameters, double max_norm) {
  for_each_gradient(parameters, [](auto g) { g.nan_to_num_(0, 0, 0); });
  return kClip(parameters, max_norm);
}

double forgets_to_clip(const Parameters& parameters, double) {
  const double norm = right_norm(parameters);
  if (!std::isfinite(norm)) refuse();
  return norm;
}

double refuses_large_norms(const Parameters& parameters, double max_norm) {
  if (!(right_norm(parameters) <= max_norm)) refuse();
  return kClip(parameters, max_norm);
}

double checked_returns_nothing(const Parameters& parameters, double max_norm) {
  if (!std::isfinite(right_norm(parameters))) refuse();
  kClip(parameters, max_norm);
  return 0;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "checks_nothing",
                   .belief = "clipping makes any gradient harmless",
                   .hint = "By what is a NaN multiplied so that it becomes a number?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(checks_nothing)),
    add_bug<Impl>({.name = "looks_for_infinity_only",
                   .belief = "a norm that is not finite is inf",
                   .hint = "What is the norm of a gradient that holds a NaN?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(looks_for_infinity_only)),
    add_bug<Impl>({.name = "looks_for_nan_only",
                   .belief = "a norm that is not finite is NaN",
                   .hint = "What is the norm of a gradient that holds an inf?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(looks_for_nan_only)),
    add_bug<Impl>({.name = "checks_the_first_tensor",
                   .belief = "if one gradient is bad, the first one is",
                   .hint = "What does your check see when the NaN is in the last tensor?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(checks_the_first_tensor)),
    add_bug<Impl>({.name = "misses_minus_infinity",
                   .belief = "a bad element is always the largest",
                   .hint = "What is the largest element of [1, -inf]?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(misses_minus_infinity)),
    add_bug<Impl>({.name = "throws_after_clipping",
                   .belief = "it is early enough to look at the norm that the clip returned",
                   .hint = "What do the gradients hold at the moment when you throw?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(throws_after_clipping)),
    add_bug<Impl>(
        {.name = "throws_another_type",
         .belief = "any exception will do, also the c10::Error of TORCH_CHECK",
         .hint = "TORCH_CHECK throws a c10::Error. Which class is what you throw derived from?",
         .caught_by = {"non_finite_norm_is_refused"}},
        with_checked(throws_another_type)),
    add_bug<Impl>({.name = "throws_a_text_or_a_number",
                   .belief = "anything can be thrown: a text, or the number of an error",
                   .hint = "Does catch (const std::exception&) catch a const char* or an int?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(throws_a_text_or_a_number)),
    add_bug<Impl>({.name = "returns_quietly",
                   .belief = "to leave the gradients alone is warning enough",
                   .hint = "How does the training loop learn that this step must not be taken?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(returns_quietly)),
    add_bug<Impl>({.name = "zeroes_the_gradients",
                   .belief = "bad gradients are wiped before the throw",
                   .hint = "Who could find out which tensor held the NaN after your call?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(zeroes_the_gradients)),
    add_bug<Impl>({.name = "mends_the_gradients",
                   .belief = "NaN and inf can be replaced by 0 and the rest clipped",
                   .hint = "Is a direction to be trusted that lost its largest element?",
                   .caught_by = {"non_finite_norm_is_refused"}},
                  with_checked(mends_the_gradients)),
    add_bug<Impl>({.name = "forgets_to_clip",
                   .belief = "task 3 only checks",
                   .hint = "What should happen to a large norm that is finite?",
                   .caught_by = {"finite_norm_is_clipped", "returns_the_norm_and_clips_in_place"}},
                  with_checked(forgets_to_clip)),
    add_bug<Impl>({.name = "refuses_large_norms",
                   .belief = "a norm above the limit is an error",
                   .hint = "Is 5 a finite number when max_norm is 1?",
                   .caught_by = {"finite_norm_is_clipped", "returns_the_norm_and_clips_in_place"}},
                  with_checked(refuses_large_norms)),
    add_bug<Impl>({.name = "checked_returns_nothing",
                   .belief = "task 3 need not return the norm",
                   .hint = "What does the function return that task 3 builds on?",
                   .caught_by = {"returns_the_norm_and_clips_in_place"}},
                  with_checked(checked_returns_nothing)),
};

}  // namespace
}  // namespace gradlab::clipping_bugs
