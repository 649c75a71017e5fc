// Known mistakes in which gradients total_norm counts, and in what it leaves behind.
#include "common.hpp"

namespace gradlab::clipping_bugs {
namespace {

double first_tensor_only(const Parameters& parameters) {
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) return std::sqrt(square_sum(parameter.grad()));
  }
  return 0;
}

double last_tensor_only(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(parameters, [&](const auto& g) { sum = square_sum(g); });
  return std::sqrt(sum);
}

double stops_at_missing_gradient(const Parameters& parameters) {
  double sum = 0;
  for (const auto& parameter : parameters) {
    if (!parameter.grad().defined()) break;
    sum += square_sum(parameter.grad());
  }
  return std::sqrt(sum);
}

double frozen_left_out(const Parameters& parameters) {
  double sum = 0;
  for (const auto& parameter : parameters) {
    if (parameter.requires_grad() && parameter.grad().defined())
      sum += square_sum(parameter.grad());
  }
  return std::sqrt(sum);
}

double frozen_passed_over(const Parameters& parameters, double max_norm) {
  const double norm = frozen_left_out(parameters);
  for (const auto& parameter : parameters) {
    if (parameter.requires_grad()) scale({parameter}, coefficient_of(norm, max_norm));
  }
  return norm;
}

double expects_a_gradient(const Parameters& parameters) {
  double sum = 0;
  for (const auto& parameter : parameters) sum += square_sum(parameter.grad());
  return std::sqrt(sum);
}

double norm_of_parameters(const Parameters& parameters) {
  double sum = 0;
  for (const auto& parameter : parameters) sum += square_sum(parameter);
  return std::sqrt(sum);
}

double makes_zero_gradients(const Parameters& parameters) {
  for (auto parameter : parameters) {
    if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
  }
  return right_norm(parameters);
}

double empty_list_is_an_error(const Parameters& parameters) {
  std::vector<torch::Tensor> norms;
  for_each_gradient(parameters,
                    [&](const auto& g) { norms.push_back(g.to(torch::kFloat64).norm()); });
  return torch::stack(norms).norm().item<double>();
}

double squares_in_place(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(
      parameters, [&](auto g) { sum += g.square_().sum(torch::kFloat64).template item<double>(); });
  return std::sqrt(sum);
}

template <typename T>
double block_sum(const torch::Tensor& gradient) {
  double sum = 0;
  for (int64_t i = 0; i < gradient.numel(); ++i) {
    const double element = gradient.const_data_ptr<T>()[i];
    sum += element * element;
  }
  return sum;
}

double ignores_strides(const Parameters& parameters) {
  double sum = 0;
  for_each_gradient(parameters, [&](const auto& g) {
    if (g.scalar_type() == torch::kFloat32) {
      sum += block_sum<float>(g);
    } else if (g.scalar_type() == torch::kFloat64) {
      sum += block_sum<double>(g);
    } else {
      sum += square_sum(g);
    }
  });
  return std::sqrt(sum);
}

double walks_memory(const Parameters& parameters, double max_norm) {
  const double norm = ignores_strides(parameters);
  scale_side_by_side(parameters, coefficient_of(norm, max_norm));
  return norm;
}

double sum_is_never_reset(const Parameters& parameters) {
  static double sum = 0;
  for_each_gradient(parameters, [&](const auto& g) { sum += square_sum(g); });
  return std::sqrt(sum);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "first_tensor_only",
                   .belief = "the loop may return as soon as it has a norm",
                   .hint = "Which tensors has the loop seen when it reaches your return?",
                   .caught_by = norms() + scaled() + "non_finite_norm_is_refused"},
                  built_on<first_tensor_only>()),
    add_bug<Impl>({.name = "last_tensor_only",
                   .belief = "the sum is set for each tensor instead of added to",
                   .hint = "After two tensors, what is left of the first in your sum?",
                   .caught_by = norms() + scaled() + "non_finite_norm_is_refused"},
                  built_on<last_tensor_only>()),
    add_bug<Impl>({.name = "stops_at_missing_gradient",
                   .belief = "after a parameter without a gradient no other will have one",
                   .hint = "What comes after a frozen layer in the middle of a model?",
                   .caught_by = {"which_gradients_count", "every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place", "the_boundary_step_clips"}},
                  built_on<stops_at_missing_gradient>()),
    add_bug<Impl>({.name = "frozen_left_out",
                   .belief = "a frozen parameter's gradient does not count in the norm, though it "
                             "is shortened with the others",
                   .hint = "A layer was frozen after a backward. What does its grad() still hold?",
                   .caught_by = {"which_gradients_count", "every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place"}},
                  built_on<frozen_left_out>()),
    add_bug<Impl>({.name = "frozen_passed_over",
                   .belief = "a frozen parameter's gradient neither counts in the norm nor is "
                             "shortened",
                   .hint = "Which decides here: requires_grad, or whether there is a gradient?",
                   .caught_by = {"which_gradients_count", "every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place"}},
                  built_on<frozen_left_out, frozen_passed_over>()),
    add_bug<Impl>({.name = "expects_a_gradient",
                   .belief = "every parameter has a gradient",
                   .hint = "What does grad() return for a parameter that no backward has reached?",
                   .caught_by = {"which_gradients_count", "nothing_else_changes",
                                 "cs336_and_appendix_d3", "every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place", "the_boundary_step_clips"}},
                  built_on<expects_a_gradient>()),
    add_bug<Impl>({.name = "norm_of_parameters",
                   .belief = "the norm is that of the parameters",
                   .hint = "Which tensor belongs to a parameter and says where it should move?",
                   .caught_by = norms() + scaled() + small() + "nothing_else_changes" +
                                "non_finite_norm_is_refused"},
                  built_on<norm_of_parameters>()),
    add_bug<Impl>({.name = "makes_zero_gradients",
                   .belief = "a missing gradient should be made, as zeros",
                   .hint = "What does an optimizer do with a frozen parameter that has a gradient?",
                   .caught_by = {"nothing_else_changes", "cs336_and_appendix_d3",
                                 "every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place", "the_boundary_step_clips"}},
                  built_on<makes_zero_gradients>()),
    add_bug<Impl>({.name = "empty_list_is_an_error",
                   .belief = "there is always a gradient to stack",
                   .hint = "What is the norm of a model before its first backward?",
                   .caught_by = {"nothing_else_changes"}},
                  built_on<empty_list_is_an_error>()),
    add_bug<Impl>({.name = "squares_in_place",
                   .belief = "square_() is square() with less memory",
                   .hint = "What do the gradients hold after you have asked for their norm?",
                   .caught_by = scaled() + small() + "half_and_bfloat16" + "nothing_else_changes" +
                                "non_finite_norm_is_refused"},
                  built_on<squares_in_place>()),
    add_bug<Impl>({.name = "ignores_strides",
                   .belief = "the elements of every tensor lie side by side in memory",
                   .hint = "Where in memory is the next element of every second column?",
                   .caught_by = {"norm_of_random_lists", "every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place", "the_boundary_step_clips"}},
                  built_on<ignores_strides>()),
    add_bug<Impl>({.name = "walks_memory",
                   .belief = "numel() elements from data_ptr() on are the tensor, to read and to "
                             "write",
                   .hint = "Where in memory is the next element of every second column?",
                   .caught_by = {"norm_of_random_lists", "every_gradient_is_clipped_in_place",
                                 "returns_the_norm_and_clips_in_place", "the_boundary_step_clips"}},
                  built_on<ignores_strides, walks_memory>()),
    add_bug<Impl>({.name = "sum_is_never_reset",
                   .belief = "a static sum starts at zero in each call",
                   .hint = "What does your function return when it is called a second time?",
                   .caught_by = norms() + scaled() + small()},
                  built_on<sum_is_never_reset>()),
};

}  // namespace
}  // namespace gradlab::clipping_bugs
