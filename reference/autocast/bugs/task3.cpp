// Known mistakes with the copies that LibTorch keeps of weights.
#include "common.hpp"

namespace gradlab::autocast_bugs {
namespace {

using Batches = std::vector<Batch>;

Pass pass_with(Parts parts, const Model& model, const Batch& batch, Dtype dtype) {
  const Region region(dtype, true, parts);
  return pass_of(model, batch);
}

Pass never_clears(const Model& model, const Batch& batch, Dtype dtype) {
  return pass_with({.clear_first = false, .clear_last = false}, model, batch, dtype);
}

Pass clears_first_only(const Model& model, const Batch& batch, Dtype dtype) {
  return pass_with({.clear_last = false}, model, batch, dtype);
}

double step_on(const torch::Tensor& loss, Optimizer& optimizer) {
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

std::vector<double> one_region_round_all(const Model& model, const Batches& batches, Dtype dtype,
                                         Optimizer& optimizer) {
  const Region region(dtype);
  std::vector<double> losses;
  for (const auto& batch : batches) {
    optimizer.zero_grad();
    losses.push_back(step_on(pass_of(model, batch).loss, optimizer));
  }
  return losses;
}

std::vector<double> pauses_one_region(const Model& model, const Batches& batches, Dtype dtype,
                                      Optimizer& optimizer) {
  const Region region(dtype);
  std::vector<double> losses;
  for (const auto& batch : batches) {
    optimizer.zero_grad();
    state::set_autocast_enabled(at::kCPU, true);
    const auto loss = pass_of(model, batch).loss;
    state::set_autocast_enabled(at::kCPU, false);
    losses.push_back(step_on(loss, optimizer));
  }
  return losses;
}

std::vector<double> clears_once_before(const Model& model, const Batches& batches, Dtype dtype,
                                       Optimizer& optimizer) {
  state::clear_cache();
  return train_by<step_by<never_clears>>(model, batches, dtype, optimizer);
}

std::vector<double> clears_once_behind(const Model& model, const Batches& batches, Dtype dtype,
                                       Optimizer& optimizer) {
  const AtEnd end([] { state::clear_cache(); });
  return train_by<step_by<never_clears>>(model, batches, dtype, optimizer);
}

std::vector<double> clears_every_other_step(const Model& model, const Batches& batches, Dtype dtype,
                                            Optimizer& optimizer) {
  const AtEnd end([] { state::clear_cache(); });
  std::vector<double> losses;
  for (const auto& batch : batches) {
    if (losses.size() % 2 == 0) state::clear_cache();
    losses.push_back(step_by<never_clears>(model, batch, dtype, optimizer));
  }
  return losses;
}

std::vector<double> trains_on_the_first_batch(const Model& model, const Batches& batches,
                                              Dtype dtype, Optimizer& optimizer) {
  std::vector<double> losses;
  for (size_t i = 0; i < batches.size(); ++i) {
    losses.push_back(step_by<right_pass>(model, batches.front(), dtype, optimizer));
  }
  return losses;
}

std::vector<double> adds_up_the_gradients(const Model& model, const Batches& batches, Dtype dtype,
                                          Optimizer& optimizer) {
  optimizer.zero_grad();
  std::vector<double> losses;
  for (const auto& batch : batches) {
    losses.push_back(step_on(right_pass(model, batch, dtype).loss, optimizer));
  }
  return losses;
}

std::vector<double> steps_once_in_the_end(const Model& model, const Batches& batches, Dtype dtype,
                                          Optimizer& optimizer) {
  optimizer.zero_grad();
  std::vector<double> losses;
  for (const auto& batch : batches) {
    const auto loss = right_pass(model, batch, dtype).loss;
    loss.backward();
    losses.push_back(loss.item<double>());
  }
  optimizer.step();
  return losses;
}

std::vector<double> leaves_the_dtype_after_training(const Model& model, const Batches& batches,
                                                    Dtype dtype, Optimizer& optimizer) {
  state::set_autocast_dtype(at::kCPU, dtype);
  return train_by<step_by<right_pass>>(model, batches, dtype, optimizer);
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "never_clears",
                   .belief = "LibTorch notices that a weight has changed",
                   .hint = "Whose copy of the weight does the second forward multiply by?",
                   .caught_by = stale_copies() + Checks{"a_region_within_a_region"}},
                  built_on<never_clears>()),
    add_bug<Impl>(
        {.name = "clears_first_only",
         .belief = "it is enough to clear the cache where a region begins",
         .hint = "What does a caller find who runs the model in a region of his own next?",
         .caught_by = {"a_region_within_a_region", "the_callers_next_forward_sees_the_weights"}},
        built_on<clears_first_only>()),
    add_bug<Impl>({.name = "one_region_round_all",
                   .belief = "one region can be held open for the whole training",
                   .hint = "When does a region drop the copies that it made?",
                   .caught_by = stale_copies() + Checks{"every_backward_runs_outside"}},
                  with_train(one_region_round_all)),
    add_bug<Impl>({.name = "pauses_one_region",
                   .belief = "to switch autocast off ends a region",
                   .hint = "Does set_autocast_enabled(at::kCPU, false) drop a copy?",
                   .caught_by = stale_copies()},
                  with_train(pauses_one_region)),
    add_bug<Impl>({.name = "clears_once_before",
                   .belief = "a clean cache at the start stays clean",
                   .hint = "Who fills the cache again, and at which step?",
                   .caught_by = stale_copies()},
                  with_train(clears_once_before)),
    add_bug<Impl>({.name = "clears_once_behind",
                   .belief = "the cache is cleared when training is done",
                   .hint = "Which copies does the second step find?",
                   .caught_by = stale_copies()},
                  with_train(clears_once_behind)),
    add_bug<Impl>({.name = "clears_every_other_step",
                   .belief = "now and then is often enough",
                   .hint = "For how many steps is a copy of a weight right?",
                   .caught_by = stale_copies()},
                  with_train(clears_every_other_step)),
    add_bug<Impl>({.name = "trains_on_the_first_batch",
                   .belief = "every step takes the same batch",
                   .hint = "Which batch belongs to the second loss?",
                   .caught_by = {"a_run_of_several_layers"}},
                  with_train(trains_on_the_first_batch)),
    add_bug<Impl>({.name = "adds_up_the_gradients",
                   .belief = "the gradients are cleared once, before the first step",
                   .hint = "What does backward add the second gradient to?",
                   .caught_by = stale_copies()},
                  with_train(adds_up_the_gradients)),
    add_bug<Impl>({.name = "steps_once_in_the_end",
                   .belief = "the optimizer steps once all batches are through",
                   .hint = "Which weights should the second batch meet?",
                   .caught_by = stale_copies()},
                  with_train(steps_once_in_the_end)),
    add_bug<Impl>({.name = "leaves_the_dtype_after_training",
                   .belief = "the dtype can be set once for the whole training, and stay",
                   .hint = "Which dtype does the caller find who had set another one?",
                   .caught_by = {"the_state_after_training"}},
                  with_train(leaves_the_dtype_after_training)),
};

}  // namespace
}  // namespace gradlab::autocast_bugs
