// Known mistakes in count_underflow.
#include "common.hpp"

namespace gradlab::loss_scaling_bugs {
namespace {

int64_t number_of(const torch::Tensor& mask) { return mask.sum().item<int64_t>(); }

int64_t zeros_too(const torch::Tensor& gradient, double scale) {
  return number_of((gradient * scale).to(torch::kFloat16) == 0);
}

template <auto below>
int64_t below_a_border(const torch::Tensor& gradient, double scale) {
  const auto scaled = gradient.to(torch::kFloat64).abs() * scale;
  return number_of((gradient != 0) & below(scaled));
}

torch::Tensor no_normal_number(const torch::Tensor& scaled) { return scaled < 0x1p-14; }
torch::Tensor below_the_smallest(const torch::Tensor& scaled) { return scaled < 0x1p-24; }
torch::Tensor below_the_tie(const torch::Tensor& scaled) { return scaled < kLost; }
torch::Tensor below_six_e_minus_8(const torch::Tensor& scaled) { return scaled < 6e-8; }

int64_t casts_first(const torch::Tensor& gradient, double scale) {
  const auto half = gradient.to(torch::kFloat16) * scale;
  return number_of((gradient != 0) & (half == 0));
}

int64_t scale_as_a_half(const torch::Tensor& gradient, double scale) {
  const auto half = torch::full({}, scale, torch::kFloat64).to(torch::kFloat16);
  return number_of((gradient != 0) & ((gradient * half).to(torch::kFloat16) == 0));
}

int64_t divides(const torch::Tensor& gradient, double scale) {
  return lost_in(gradient, 1 / scale);
}

int64_t without_the_scale(const torch::Tensor& gradient, double) { return lost_in(gradient, 1); }

int64_t in_bfloat16(const torch::Tensor& gradient, double scale) {
  return number_of((gradient != 0) & ((gradient * scale).to(torch::kBFloat16) == 0));
}

int64_t positive_only(const torch::Tensor& gradient, double scale) {
  return number_of((gradient > 0) & ((gradient * scale).to(torch::kFloat16) == 0));
}

int64_t one_a_tensor(const torch::Tensor& gradient, double scale) {
  return lost_in(gradient, scale) > 0 ? 1 : 0;
}

int64_t those_that_are_saved(const torch::Tensor& gradient, double scale) {
  return number_of(gradient != 0) - lost_in(gradient, scale);
}

int64_t scales_in_place(const torch::Tensor& gradient, double scale) {
  const auto lost = lost_in(gradient, scale);
  gradient.mul_(scale);
  return lost;
}

int64_t first_tensor_counts(const Gradients& gradients, double scale) {
  return gradients.empty() || !gradients.front().defined() ? 0 : lost_in(gradients.front(), scale);
}

int64_t last_tensor_counts(const Gradients& gradients, double scale) {
  int64_t count = 0;
  for (const auto& gradient : gradients) {
    if (gradient.defined()) count = lost_in(gradient, scale);
  }
  return count;
}

int64_t none_is_undefined(const Gradients& gradients, double scale) {
  int64_t count = 0;
  for (const auto& gradient : gradients) count += lost_in(gradient, scale);
  return count;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "counts_zeros_too",
                   .belief = "whatever is 0 in float16 was lost",
                   .hint = "Did a gradient of exactly 0 lose anything?",
                   .caught_by = {"zeros_are_not_lost"}},
                  with_count(count_by<zeros_too>)),
    add_bug<Impl>(
        {.name = "subnormals_are_lost",
         .belief = "the smallest float16 is 6.1e-5, its smallest normal number",
         .hint = "What does torch::tensor(1e-6).to(torch::kHalf) hold?",
         .caught_by = {"hand_worked_counts", "the_border_of_float16", "zeros_are_not_lost",
                       "large_scales_save", "count_of_random_lists"}},
        with_count(count_by<below_a_border<no_normal_number>>)),
    add_bug<Impl>({.name = "no_rounding_up",
                   .belief = "what is below the smallest float16 becomes 0",
                   .hint = "To which of its two neighbours is 5e-8 nearer: 0, or 2^-24 = 6e-8?",
                   .caught_by = {"the_border_of_float16"}},
                  with_count(count_by<below_a_border<below_the_smallest>>)),
    add_bug<Impl>({.name = "a_border_of_6e_minus_8",
                   .belief = "6e-8 is near enough to the smallest float16",
                   .hint = "Is 2^-24 = 5.96e-8, which float16 holds exactly, above your border?",
                   .caught_by = {"the_border_of_float16"}},
                  with_count(count_by<below_a_border<below_six_e_minus_8>>)),
    add_bug<Impl>({.name = "a_tie_is_saved",
                   .belief = "the half of the smallest float16 is rounded up",
                   .hint = "To which neighbour does a tie go: the even one, or the larger?",
                   .caught_by = {"the_border_of_float16"}},
                  with_count(count_by<below_a_border<below_the_tie>>)),
    add_bug<Impl>({.name = "casts_before_it_scales",
                   .belief = "the order of casting and scaling does not matter",
                   .hint = "What is 1e-9 as a float16, and that times 65536?",
                   .caught_by = {"hand_worked_counts", "the_border_of_float16", "large_scales_save",
                                 "count_of_random_lists"}},
                  with_count(count_by<casts_first>)),
    add_bug<Impl>({.name = "scale_as_a_float16",
                   .belief = "the scale may be a float16 as well",
                   .hint = "What is the largest float16, and what is 65536 there?",
                   .caught_by = {"large_scales_save"}},
                  with_count(count_by<scale_as_a_half>)),
    add_bug<Impl>(
        {.name = "divides_by_the_scale",
         .belief = "true gradients are those divided by the scale",
         .hint = "Are the gradients that you are given scaled yet, or still to be scaled?",
         .caught_by = {"hand_worked_counts", "the_border_of_float16", "large_scales_save",
                       "count_of_random_lists"}},
        with_count(count_by<divides>)),
    add_bug<Impl>({.name = "ignores_the_scale",
                   .belief = "underflow does not depend on the scale",
                   .hint = "What is the scale for?",
                   .caught_by = {"hand_worked_counts", "the_border_of_float16", "large_scales_save",
                                 "count_of_random_lists"}},
                  with_count(count_by<without_the_scale>)),
    add_bug<Impl>(
        {.name = "counts_for_bfloat16",
         .belief = "both half types lose the same gradients",
         .hint = "How many bits of exponent has float16, and how many bfloat16?",
         .caught_by = {"hand_worked_counts", "the_border_of_float16", "zeros_are_not_lost",
                       "large_scales_save", "count_of_random_lists"}},
        with_count(count_by<in_bfloat16>)),
    add_bug<Impl>({.name = "positive_gradients_only",
                   .belief = "gradients are positive",
                   .hint = "Is -1e-9 counted?",
                   .caught_by = {"hand_worked_counts", "zeros_are_not_lost", "large_scales_save",
                                 "count_of_random_lists"}},
                  with_count(count_by<positive_only>)),
    add_bug<Impl>({.name = "counts_tensors",
                   .belief = "a gradient is a tensor, and it is lost or not",
                   .hint = "How many elements are lost of [1e-9, 1e-9] at scale 1?",
                   .caught_by = {"hand_worked_counts", "zeros_are_not_lost", "large_scales_save",
                                 "count_of_random_lists"}},
                  with_count(count_by<one_a_tensor>)),
    add_bug<Impl>(
        {.name = "counts_what_is_saved",
         .belief = "the count is of those that survive",
         .hint = "What should the count be at a scale that saves them all?",
         .caught_by = {"hand_worked_counts", "the_border_of_float16", "zeros_are_not_lost",
                       "large_scales_save", "count_of_random_lists"}},
        with_count(count_by<those_that_are_saved>)),
    add_bug<Impl>({.name = "scales_in_place",
                   .belief = "the gradients are a copy, and may be scaled",
                   .hint = "Which tensors does an operation that ends in _ write into?",
                   .caught_by = {"gradients_stay_as_they_are"}},
                  with_count(count_by<scales_in_place>)),
    add_bug<Impl>({.name = "first_tensor_counts",
                   .belief = "the list holds one tensor",
                   .hint = "What is lost in the second tensor of the list?",
                   .caught_by = {"hand_worked_counts", "zeros_are_not_lost", "large_scales_save",
                                 "count_of_random_lists"}},
                  with_count(first_tensor_counts)),
    add_bug<Impl>({.name = "last_tensor_counts",
                   .belief = "the count is set anew for each tensor",
                   .hint = "What becomes of the count of the first tensor?",
                   .caught_by = {"hand_worked_counts", "zeros_are_not_lost", "large_scales_save",
                                 "count_of_random_lists"}},
                  with_count(last_tensor_counts)),
    add_bug<Impl>({.name = "none_is_undefined",
                   .belief = "every tensor of the list is defined",
                   .hint = "What does the contract say of an undefined tensor?",
                   .caught_by = {"count_of_random_lists", "gradients_stay_as_they_are"}},
                  with_count(none_is_undefined)),
};

}  // namespace
}  // namespace gradlab::loss_scaling_bugs
