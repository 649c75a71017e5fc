// Known mistakes in the region itself: what it is set to, and what it leaves behind.
#include "common.hpp"

namespace gradlab::autocast_bugs {
namespace {

// A region without these parts.
template <typename Change>
Pass without(Change change, const Model& model, const Batch& batch, Dtype dtype) {
  Parts parts;
  change(parts);
  const Region region(dtype, true, parts);
  return pass_of(model, batch);
}

Pass rounds_the_output(const Model& model, const Batch& batch, Dtype dtype) {
  const auto output = model.forward(batch.x).to(dtype);
  return {output, torch::mse_loss(output.to(torch::kFloat32), batch.y)};
}

Pass leaves_the_dtype_at_its_default(const Model& model, const Batch& batch, Dtype dtype) {
  return without([](Parts& parts) { parts.set_dtype = false; }, model, batch, dtype);
}

Pass names_another_device(const Model& model, const Batch& batch, Dtype dtype) {
  state::set_autocast_enabled(at::kCUDA, true);
  const AtEnd end([] { state::set_autocast_enabled(at::kCUDA, false); });
  const Dtype before = state::get_autocast_dtype(at::kCPU);
  state::set_autocast_dtype(at::kCPU, dtype);
  const AtEnd back([&] { state::set_autocast_dtype(at::kCPU, before); });
  return pass_of(model, batch);
}

Pass forgets_to_switch_off(const Model& model, const Batch& batch, Dtype dtype) {
  return without([](Parts& parts) { parts.restore_enabled = false; }, model, batch, dtype);
}

Pass always_switches_off(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype, true, {.restore_enabled = false});
  const AtEnd end([] { state::set_autocast_enabled(at::kCPU, false); });
  return pass_of(model, batch);
}

Pass leaves_its_dtype(const Model& model, const Batch& batch, Dtype dtype) {
  return without([](Parts& parts) { parts.restore_dtype = false; }, model, batch, dtype);
}

Pass leaves_the_cache_off(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype);
  state::set_autocast_cache_enabled(false);
  return pass_of(model, batch);
}

Pass switches_the_cache_on(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype);
  state::set_autocast_cache_enabled(false);
  const AtEnd end([] { state::set_autocast_cache_enabled(true); });
  return pass_of(model, batch);
}

Pass never_decrements(const Model& model, const Batch& batch, Dtype dtype) {
  return without([](Parts& parts) { parts.decrement = false; }, model, batch, dtype);
}

// Straight code, without a scope: right for as long as nothing throws.
template <typename Guarded>
Pass by_hand(Dtype dtype, Guarded guarded) {
  const bool enabled = state::is_autocast_enabled(at::kCPU);
  const Dtype before = state::get_autocast_dtype(at::kCPU);
  const auto leave = [&] {
    state::set_autocast_enabled(at::kCPU, enabled);
    state::set_autocast_dtype(at::kCPU, before);
    state::clear_cache();
    state::decrement_nesting();
  };
  state::increment_nesting();
  state::clear_cache();
  state::set_autocast_enabled(at::kCPU, true);
  state::set_autocast_dtype(at::kCPU, dtype);
  return guarded(leave);
}

Pass throws_past_the_end(const Model& model, const Batch& batch, Dtype dtype) {
  return by_hand(dtype, [&](const auto& leave) {
    Pass pass = pass_of(model, batch);
    leave();
    return pass;
  });
}

Pass catches_exceptions_only(const Model& model, const Batch& batch, Dtype dtype) {
  return by_hand(dtype, [&](const auto& leave) {
    try {
      Pass pass = pass_of(model, batch);
      leave();
      return pass;
    } catch (const std::exception&) {
      leave();
      throw;
    }
  });
}

Pass swallows_the_exception(const Model& model, const Batch& batch, Dtype dtype) {
  return by_hand(dtype, [&](const auto& leave) {
    Pass pass;
    try {
      pass = pass_of(model, batch);
    } catch (...) {
      // The state is put back below.
    }
    leave();
    return pass;
  });
}

Pass clears_at_depth_0_only(const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype, true, {.clear_first = false, .clear_last = false});
  const AtEnd end([] {
    if (state::decrement_nesting() == 0) state::clear_cache();
    state::increment_nesting();
  });
  return pass_of(model, batch);
}

Pass stays_in_the_callers_region(const Model& model, const Batch& batch, Dtype dtype) {
  if (state::is_autocast_enabled(at::kCPU)) return pass_of(model, batch);
  return right_pass(model, batch, dtype);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "rounds_the_output",
                   .belief = "the output only has to be of the dtype",
                   .hint = "In which type were the products taken that your output is made of?",
                   .caught_by = region_of_the_model()},
                  built_on<rounds_the_output>()),
    add_bug<Impl>(
        {.name = "leaves_the_dtype_at_its_default",
         .belief = "autocast computes in float16 once it is on",
         .hint = "Which dtype is in force on the CPU as long as nobody sets one?",
         .caught_by = region_of_the_model() +
                      Checks{"output_is_in_the_dtype_of_the_region", "a_region_within_a_region"}},
        built_on<leaves_the_dtype_at_its_default>()),
    add_bug<Impl>(
        {.name = "names_another_device",
         .belief = "autocast is switched on for CUDA, as in most examples",
         .hint = "On which device are the model's tensors?",
         .caught_by = region_of_the_model() +
                      Checks{"output_is_in_the_dtype_of_the_region", "a_region_within_a_region"}},
        built_on<names_another_device>()),
    add_bug<Impl>(
        {.name = "forgets_to_switch_off",
         .belief = "a region ends by itself",
         .hint = "What does is_autocast_enabled(at::kCPU) say after your call?",
         .caught_by = state_behind() + state_behind_an_exception() +
                      Checks{"a_region_within_a_region", "backward_runs_outside_the_region",
                             "every_backward_runs_outside", "scaled_backward_runs_outside"}},
        built_on<forgets_to_switch_off>()),
    add_bug<Impl>(
        {.name = "always_switches_off",
         .belief = "behind a region autocast is off",
         .hint = "What was autocast for a caller who is in a region of his own?",
         .caught_by = {"the_state_is_left_as_found", "a_model_that_throws_leaves_the_state",
                       "a_region_within_a_region"}},
        built_on<always_switches_off>()),
    add_bug<Impl>({.name = "leaves_its_dtype",
                   .belief = "the dtype means nothing once autocast is off",
                   .hint = "In which dtype does a caller's region compute after your call?",
                   .caught_by = state_behind() + state_behind_an_exception() +
                                Checks{"a_region_within_a_region", "scaled_backward_runs_outside"}},
                  built_on<leaves_its_dtype>()),
    add_bug<Impl>({.name = "leaves_the_cache_off",
                   .belief = "the cache may stay off: it only saves time",
                   .hint = "Whose flag is the cache's: your region's, or the whole thread's?",
                   .caught_by = state_behind() + state_behind_an_exception() +
                                Checks{"scaled_backward_runs_outside"}},
                  built_on<leaves_the_cache_off>()),
    add_bug<Impl>({.name = "switches_the_cache_on",
                   .belief = "the cache is on outside, so it is switched on again",
                   .hint = "What if the caller had switched the cache off?",
                   .caught_by = state_behind()},
                  built_on<switches_the_cache_on>()),
    add_bug<Impl>({.name = "never_decrements",
                   .belief = "increment_nesting begins a region, and nothing has to end it",
                   .hint = "How deep is the caller after your call, and after a thousand calls?",
                   .caught_by = state_behind() + state_behind_an_exception() +
                                Checks{"scaled_backward_runs_outside"}},
                  built_on<never_decrements>()),
    add_bug<Impl>({.name = "throws_past_the_end",
                   .belief = "the lines behind forward always run",
                   .hint = "Which of your lines runs when the model throws?",
                   .caught_by = state_behind_an_exception()},
                  built_on<throws_past_the_end>()),
    add_bug<Impl>({.name = "catches_exceptions_only",
                   .belief = "whatever is thrown is a std::exception",
                   .hint = "Does catch (const std::exception&) catch a number that is thrown?",
                   .caught_by = state_behind_an_exception()},
                  built_on<catches_exceptions_only>()),
    add_bug<Impl>({.name = "swallows_the_exception",
                   .belief = "a model that throws is caught, and the region left",
                   .hint = "How does the training loop learn that there is no output?",
                   .caught_by = state_behind_an_exception()},
                  built_on<swallows_the_exception>()),
    add_bug<Impl>(
        {.name = "clears_at_depth_0_only",
         .belief = "the cache is cleared where the outermost region ends, as in Python",
         .hint = "Which copy of the weight does a bfloat16 region find within a float16 one?",
         .caught_by = {"a_region_within_a_region"}},
        built_on<clears_at_depth_0_only>()),
    add_bug<Impl>({.name = "stays_in_the_callers_region",
                   .belief = "where autocast is on already there is nothing to do",
                   .hint = "Which dtype was asked for, and which has the caller's region?",
                   .caught_by = {"a_region_within_a_region"}},
                  built_on<stays_in_the_callers_region>()),
};

}  // namespace
}  // namespace gradlab::autocast_bugs
