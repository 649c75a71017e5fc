// Known mistakes in what total_norm computes.
#include "common.hpp"

namespace gradlab::clipping_bugs {
namespace {

double sum_of_norms(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(parameters, [&](const auto& g) { sum += std::sqrt(square_sum(g)); });
  return sum;
}

double no_square_root(const Parameters& parameters) {
  const double norm = right_norm(parameters);
  return norm * norm;
}

double mean_of_squares(const Parameters& parameters) {
  int64_t count = 0;
  for_each_gradient(parameters, [&](const auto& g) { count += g.numel(); });
  return count == 0 ? 0.0 : right_norm(parameters) / std::sqrt(static_cast<double>(count));
}

double l1_norm(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(parameters, [&](const auto& g) {
    sum += g.to(torch::kFloat64).abs().sum().template item<double>();
  });
  return sum;
}

double largest_element(const Parameters& parameters) {
  double largest = 0;
  for_each_gradient(parameters, [&](const auto& g) {
    if (g.numel() > 0) largest = std::max(largest, g.abs().max().template item<double>());
  });
  return largest;
}

double largest_tensor_norm(const Parameters& parameters) {
  double largest = 0;
  for_each_gradient(parameters,
                    [&](const auto& g) { largest = std::max(largest, std::sqrt(square_sum(g))); });
  return largest;
}

double sum_squared(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(parameters, [&](const auto& g) {
    const double one = g.to(torch::kFloat64).sum().template item<double>();
    sum += one * one;
  });
  return std::sqrt(sum);
}

double epsilon_under_the_root(const Parameters& parameters) {
  const double norm = right_norm(parameters);
  return std::sqrt(norm * norm + kEpsilon);
}

double squares_in_half(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(parameters,
                    [&](const auto& g) { sum += g.square().sum().template item<double>(); });
  return std::sqrt(sum);
}

// Squares in float, so that nothing overflows, but keeps the sum in the gradient's own type.
double running_sum_in_own_type(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(parameters, [&](const auto& g) {
    if (g.scalar_type() != torch::kBFloat16) {
      sum += square_sum(g);
      return;
    }
    const auto wide = g.to(torch::kFloat32).contiguous();
    c10::BFloat16 own = 0;
    for (int64_t i = 0; i < wide.numel(); ++i) {
      const float element = wide.template const_data_ptr<float>()[i];
      own = static_cast<float>(own) + element * element;
    }
    sum += static_cast<float>(own);
  });
  return std::sqrt(sum);
}

double cast_to_float(const Parameters& parameters) {
  float sum = 0;
  for_each_gradient(parameters, [&](const auto& g) {
    sum += g.to(torch::kFloat32).square().sum().template item<float>();
  });
  return std::sqrt(sum);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "sum_of_norms",
                   .belief = "the norm of a list is the sum of the norms of its tensors",
                   .hint = "What is the length of a vector whose two parts have length 3 and 4?",
                   .caught_by = norms() + scaled() + small() - "a_million_elements"},
                  built_on<sum_of_norms>()),
    add_bug<Impl>({.name = "no_square_root",
                   .belief = "the sum of the squares is the norm already",
                   .hint = "The sum of squares of [3, 4] is 25. What is its length?",
                   .caught_by = norms() + scaled() + small()},
                  built_on<no_square_root>()),
    add_bug<Impl>({.name = "mean_of_squares",
                   .belief = "the squares are averaged, so that large models are not punished",
                   .hint = "Should the norm of 100 ones be the same as that of a single one?",
                   .caught_by = norms() + scaled()},
                  built_on<mean_of_squares>()),
    add_bug<Impl>({.name = "l1_norm",
                   .belief = "the norm adds up absolute values",
                   .hint = "Which norm is asked for, the L1 or the L2 norm?",
                   .caught_by = norms() + scaled() + small()},
                  built_on<l1_norm>()),
    add_bug<Impl>({.name = "largest_element",
                   .belief = "the norm is the largest absolute value",
                   .hint = "If one element is 4 and another 3, does the 3 change the length?",
                   .caught_by = norms() + scaled() + "non_finite_norm_is_refused"},
                  built_on<largest_element>()),
    add_bug<Impl>(
        {.name = "largest_tensor_norm",
         .belief = "the norm of a list is that of its largest tensor",
         .hint = "What do the other tensors add to the length of the one long vector?",
         .caught_by = norms() + scaled() - "a_million_elements" + "non_finite_norm_is_refused"},
        built_on<largest_tensor_norm>()),
    add_bug<Impl>({.name = "sum_squared",
                   .belief = "sum first and square then, the order does not matter",
                   .hint = "What is left of [1, -1] when it is summed before it is squared?",
                   .caught_by = norms() + scaled() + small()},
                  built_on<sum_squared>()),
    add_bug<Impl>(
        {.name = "epsilon_under_the_root",
         .belief = "the epsilon of the formula is part of the norm",
         .hint = "What is the norm of a gradient that is all zero, exactly?",
         .caught_by = {"hand_worked_norms", "norm_of_random_lists", "half_and_bfloat16",
                       "nothing_else_changes", "norm_before_clipping_is_returned",
                       "tiny_limits_follow_the_formula", "returns_the_norm_and_clips_in_place"}},
        built_on<epsilon_under_the_root>()),
    add_bug<Impl>({.name = "squares_in_half",
                   .belief = "a half is as good as a float to square in",
                   .hint = "The largest half is 65504. What is 300 * 300?",
                   .caught_by = {"half_and_bfloat16"}},
                  built_on<squares_in_half>()),
    add_bug<Impl>({.name = "running_sum_in_own_type",
                   .belief = "a sum may be kept in the type of its terms",
                   .hint = "bfloat16 has 8 significant bits. What is 256 + 1 in it?",
                   .caught_by = {"half_and_bfloat16"}},
                  built_on<running_sum_in_own_type>()),
    add_bug<Impl>({.name = "cast_to_float",
                   .belief = "a float is precise enough for every norm",
                   .hint = "How many digits of a float64 gradient survive a cast to float?",
                   .caught_by = {"norm_of_random_lists", "float64_stays_double"}},
                  built_on<cast_to_float>()),
};

}  // namespace
}  // namespace gradlab::clipping_bugs
