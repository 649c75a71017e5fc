// Known mistakes in an island of float32.
#include "common.hpp"

namespace gradlab::autocast_bugs {
namespace {

torch::Tensor casts_only(const Op& op, const torch::Tensor& input) {
  return op(input.to(torch::kFloat32));
}

torch::Tensor switches_off_only(const Op& op, const torch::Tensor& input) {
  const Region island(torch::kBFloat16, false);
  return op(input);
}

torch::Tensor sets_dtype_float32(const Op& op, const torch::Tensor& input) {
  const Region island(torch::kFloat32, true);
  return op(input.to(torch::kFloat32));
}

torch::Tensor casts_the_result(const Op& op, const torch::Tensor& input) {
  const Region island(torch::kBFloat16, false);
  return op(input).to(torch::kFloat32);
}

torch::Tensor casts_back(const Op& op, const torch::Tensor& input) {
  return right_island(op, input).to(input.scalar_type());
}

torch::Tensor casts_to_the_region(const Op& op, const torch::Tensor& input) {
  const auto result = right_island(op, input);
  return state::is_autocast_enabled(at::kCPU) ? result.to(state::get_autocast_dtype(at::kCPU))
                                              : result;
}

torch::Tensor computes_in_double(const Op& op, const torch::Tensor& input) {
  const Region island(torch::kBFloat16, false);
  return op(input.to(torch::kFloat64)).to(torch::kFloat32);
}

torch::Tensor detaches_the_input(const Op& op, const torch::Tensor& input) {
  return right_island(op, input.detach());
}

torch::Tensor detaches_the_result(const Op& op, const torch::Tensor& input) {
  return right_island(op, input).detach();
}

torch::Tensor always_switches_on(const Op& op, const torch::Tensor& input) {
  const Region island(torch::kBFloat16, false, {.restore_enabled = false});
  const AtEnd end([] { state::set_autocast_enabled(at::kCPU, true); });
  return op(input.to(torch::kFloat32));
}

torch::Tensor leaves_autocast_off(const Op& op, const torch::Tensor& input) {
  const Region island(torch::kBFloat16, false, {.restore_enabled = false});
  return op(input.to(torch::kFloat32));
}

torch::Tensor island_throws_past_the_end(const Op& op, const torch::Tensor& input) {
  const bool enabled = state::is_autocast_enabled(at::kCPU);
  state::set_autocast_enabled(at::kCPU, false);
  const auto result = op(input.to(torch::kFloat32));
  state::set_autocast_enabled(at::kCPU, enabled);
  return result;
}

torch::Tensor island_leaves_the_cache_off(const Op& op, const torch::Tensor& input) {
  state::set_autocast_cache_enabled(false);
  return right_island(op, input);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "casts_only",
                   .belief = "a float32 input keeps an operation in float32",
                   .hint = "What does mm do with float32 inputs while autocast is on?",
                   .caught_by = {"op_gets_float32_with_autocast_off", "the_result_is_float32",
                                 "unsafe_operations_stay_right"}},
                  with_island(casts_only)),
    add_bug<Impl>({.name = "switches_off_only",
                   .belief = "with autocast off everything is float32",
                   .hint = "Which type has a float16 tensor once autocast is off?",
                   .caught_by = {"op_gets_float32_with_autocast_off", "the_result_is_float32",
                                 "unsafe_operations_stay_right"}},
                  with_island(switches_off_only)),
    add_bug<Impl>({.name = "sets_dtype_float32",
                   .belief = "a region of dtype float32 is an island",
                   .hint = "Is autocast off in your island? What does Python say to that dtype?",
                   .caught_by = {"op_gets_float32_with_autocast_off"}},
                  with_island(sets_dtype_float32)),
    add_bug<Impl>(
        {.name = "casts_the_result",
         .belief = "it is the result that has to be float32",
         .hint = "What does a cast make of a result that is inf already?",
         .caught_by = {"op_gets_float32_with_autocast_off", "unsafe_operations_stay_right"}},
        with_island(casts_the_result)),
    add_bug<Impl>({.name = "casts_back",
                   .belief = "the result has the type of the input",
                   .hint = "What is 90000 in the type that you return?",
                   .caught_by = {"the_result_is_float32", "unsafe_operations_stay_right"}},
                  with_island(casts_back)),
    add_bug<Impl>({.name = "casts_to_the_region",
                   .belief = "within a region every result is of its dtype",
                   .hint = "What is 90000 in the dtype of the region?",
                   .caught_by = {"the_result_is_float32", "unsafe_operations_stay_right"}},
                  with_island(casts_to_the_region)),
    add_bug<Impl>({.name = "computes_in_double",
                   .belief = "the more digits the better",
                   .hint = "Which type was asked for, and what does double cost on a GPU?",
                   .caught_by = {"op_gets_float32_with_autocast_off"}},
                  with_island(computes_in_double)),
    add_bug<Impl>({.name = "detaches_the_input",
                   .belief = "an island stands apart from the graph",
                   .hint = "Which layers below the island learn anything?",
                   .caught_by = {"gradients_flow_through"}},
                  with_island(detaches_the_input)),
    add_bug<Impl>({.name = "detaches_the_result",
                   .belief = "the result is handed over as numbers",
                   .hint = "Does the tensor that you return know where it came from?",
                   .caught_by = {"gradients_flow_through"}},
                  with_island(detaches_the_result)),
    add_bug<Impl>(
        {.name = "always_switches_on",
         .belief = "an island is always within a region",
         .hint = "What was autocast before an island that is called outside?",
         .caught_by = {"the_state_after_an_island", "an_op_that_throws_leaves_the_state"}},
        with_island(always_switches_on)),
    add_bug<Impl>({.name = "leaves_autocast_off",
                   .belief = "the region comes back by itself",
                   .hint = "In which type does the layer behind the island compute?",
                   .caught_by = {"the_region_goes_on_behind_it", "the_state_after_an_island",
                                 "an_op_that_throws_leaves_the_state"}},
                  with_island(leaves_autocast_off)),
    add_bug<Impl>({.name = "island_throws_past_the_end",
                   .belief = "the lines behind op always run",
                   .hint = "Which of your lines runs when op throws?",
                   .caught_by = {"an_op_that_throws_leaves_the_state"}},
                  with_island(island_throws_past_the_end)),
    add_bug<Impl>(
        {.name = "island_leaves_the_cache_off",
         .belief = "in an island no copies are wanted, so the cache is switched off",
         .hint = "Who switches the cache on again?",
         .caught_by = {"the_state_after_an_island", "an_op_that_throws_leaves_the_state"}},
        with_island(island_leaves_the_cache_off)),
};

}  // namespace
}  // namespace gradlab::autocast_bugs
