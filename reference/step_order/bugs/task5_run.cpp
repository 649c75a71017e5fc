// Known mistakes in train: what is made once, where a region ends, which batches are trained.
#include "training.hpp"

namespace gradlab::step_order_bugs {
namespace {

Records new_scaler_each_step(const Model& model, const Batches& batches, double lr,
                             double max_norm) {
  Training training(model, lr, max_norm);
  Records records;
  for (const auto& batch : batches) {
    training.renew_scaler();
    records.push_back(training.on(batch));
  }
  return records;
}

Records one_region_for_the_run(const Model& model, const Batches& batches, double lr,
                               double max_norm) {
  const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
  Training training(model, lr, max_norm);
  Records records;
  for (const auto& batch : batches) records.push_back(training.on(batch));
  return records;
}

Records smaller_first_scale(const Model& model, const Batches& batches, double lr,
                            double max_norm) {
  Training training(model, lr, max_norm, 64);
  Records records;
  for (const auto& batch : batches) records.push_back(training.on(batch));
  return records;
}

Records repeats_skipped_batches(const Model& model, const Batches& batches, double lr,
                                double max_norm) {
  constexpr int kMost = 20;  // tries of one batch
  Training training(model, lr, max_norm);
  Records records;
  for (const auto& batch : batches) {
    auto record = training.on(batch);
    for (int i = 1; !record.stepped && i < kMost; ++i) record = training.on(batch);
    records.push_back(record);
  }
  return records;
}

Records run_zeroes_only_after_a_step(const Model& model, const Batches& batches, double lr,
                                     double max_norm) {
  Training training(model, lr, max_norm);
  Records records;
  for (const auto& batch : batches) {
    records.push_back(training.without_zeroing(batch));
    if (records.back().stepped) training.optimizer().zero_grad();
  }
  return records;
}

Records no_limit(const Model& model, const Batches& batches, double lr, double) {
  Training training(model, lr, 1e30);
  Records records;
  for (const auto& batch : batches) records.push_back(training.on(batch));
  return records;
}

Records run_losses_in_float16(const Model& model, const Batches& batches, double lr,
                              double max_norm) {
  Training training(model, lr, max_norm);
  Records records;
  for (const auto& batch : batches) {
    training.optimizer().zero_grad();
    records.push_back(training.from(float16_loss_of(model, batch)));
  }
  return records;
}

Records has_momentum(const Model& model, const Batches& batches, double lr, double max_norm) {
  Training training(model, lr, max_norm, 65536, 0.9);
  Records records;
  for (const auto& batch : batches) records.push_back(training.on(batch));
  return records;
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "new_scaler_each_step",
                   .belief = "a scaler is made for each batch",
                   .hint = "Who remembers, at the next batch, that 65536 was too much?",
                   .caught_by = golden() + drawn()},
                  trained<new_scaler_each_step>()),
    add_bug<Impl>(
        {.name = "one_region_for_the_run",
         .belief = "one region around the loop saves time",
         .hint = "Autocast keeps the float16 weights until its region ends. Which weights "
                 "does the second forward use?",
         .caught_by = golden() + drawn() - "golden_run_finds_its_scale"},
        trained<one_region_for_the_run>()),
    add_bug<Impl>(
        {.name = "smaller_first_scale",
         .belief = "a first scale that never overflows is the right one",
         .hint = "Which first scale does the contract name, and what becomes of skips when "
                 "it is chosen by hand?",
         .caught_by = golden() + drawn()},
        trained<smaller_first_scale>()),
    add_bug<Impl>({.name = "repeats_skipped_batches",
                   .belief = "a batch is tried until it fits",
                   .hint = "How often is the model trained on each batch?",
                   .caught_by = golden() + drawn()},
                  trained<repeats_skipped_batches>()),
    add_bug<Impl>(
        {.name = "run_zeroes_only_after_a_step",
         .belief = "gradients that were not used need not be cleared",
         .hint = "The first batch overflows. What is inf plus the second batch's gradient?",
         .caught_by = golden() + drawn()},
        trained<run_zeroes_only_after_a_step>()),
    add_bug<Impl>({.name = "no_limit",
                   .belief = "loss scaling makes clipping needless",
                   .hint = "How long is the first true gradient of the golden run?",
                   .caught_by = golden() + drawn()},
                  trained<no_limit>()),
    add_bug<Impl>({.name = "run_losses_in_float16",
                   .belief = "the losses of a run are float16",
                   .hint = "The first scale is 65536. Which is the largest number of float16?",
                   .caught_by = drawn()},
                  trained<run_losses_in_float16>()),
    add_bug<Impl>({.name = "has_momentum",
                   .belief = "SGD is used with a momentum of 0.9",
                   .hint = "Which options of SGD does the contract name?",
                   .caught_by = golden() + drawn() - "golden_run_finds_its_scale"},
                  trained<has_momentum>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
