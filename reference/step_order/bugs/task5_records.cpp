// Known mistakes in train: what a record holds.
#include "training.hpp"

namespace gradlab::step_order_bugs {
namespace {

Records leaves_out_skips(const Model& model, const Batches& batches, double lr, double max_norm) {
  Training training(model, lr, max_norm);
  Records records;
  for (const auto& batch : batches) {
    const auto record = training.on(batch);
    if (record.stepped) records.push_back(record);
  }
  return records;
}

Records scale_after_update(const Model& model, const Batches& batches, double lr, double max_norm) {
  return changed(model, batches, lr, max_norm,
                 [](Record& record, Training& training, const Batch&) {
                   record.scale = training.scaler().get_scale();
                 });
}

Records scaled_loss(const Model& model, const Batches& batches, double lr, double max_norm) {
  return changed(model, batches, lr, max_norm,
                 [](Record& record, Training&, const Batch&) { record.loss *= record.scale; });
}

Records loss_by_the_new_scale(const Model& model, const Batches& batches, double lr,
                              double max_norm) {
  return changed(model, batches, lr, max_norm,
                 [](Record& record, Training& training, const Batch&) {
                   record.loss *= record.scale / training.scaler().get_scale();
                 });
}

Records scaled_norm(const Model& model, const Batches& batches, double lr, double max_norm) {
  return changed(model, batches, lr, max_norm,
                 [](Record& record, Training&, const Batch&) { record.norm *= record.scale; });
}

Records norm_after_clipping(const Model& model, const Batches& batches, double lr,
                            double max_norm) {
  return changed(model, batches, lr, max_norm, [&](Record& record, Training&, const Batch&) {
    record.norm = amp::get_total_norm(gradients_of(model.weights)).item<double>();
  });
}

Records loss_of_the_new_weights(const Model& model, const Batches& batches, double lr,
                                double max_norm) {
  return changed(model, batches, lr, max_norm, [&](Record& record, Training&, const Batch& batch) {
    record.loss = loss_of(model, batch).item<double>();
  });
}

Records stepped_means_skipped(const Model& model, const Batches& batches, double lr,
                              double max_norm) {
  return changed(model, batches, lr, max_norm,
                 [](Record& record, Training&, const Batch&) { record.stepped = !record.stepped; });
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "leaves_out_skips",
                   .belief = "a skipped batch is not worth a record",
                   .hint = "How many batches were there, and how many records do you return?",
                   .caught_by = golden() + drawn()},
                  trained<leaves_out_skips>()),
    add_bug<Impl>({.name = "scale_after_update",
                   .belief = "the scale can be read at any time in the step",
                   .hint = "update changes the scale. Which one was this loss multiplied by?",
                   .caught_by = drawn() + "golden_run_finds_its_scale"},
                  trained<scale_after_update>()),
    add_bug<Impl>({.name = "scaled_loss",
                   .belief = "the loss of a step is the one that backward starts from",
                   .hint = "Would you see in your numbers whether the model learns, when the scale "
                           "halves?",
                   .caught_by = drawn() + "golden_run_losses"},
                  trained<scaled_loss>()),
    add_bug<Impl>({.name = "loss_by_the_new_scale",
                   .belief = "dividing the scaled loss by the scaler's scale gives the loss",
                   .hint = "Which scale does the scaler have once update has run?",
                   .caught_by = drawn() + "golden_run_losses"},
                  trained<loss_by_the_new_scale>()),
    add_bug<Impl>({.name = "scaled_norm",
                   .belief = "the norm is that of the gradients as backward left them",
                   .hint = "What would your norm do when the scale halves?",
                   .caught_by = drawn() + "golden_run_norms"},
                  trained<scaled_norm>()),
    add_bug<Impl>({.name = "norm_after_clipping",
                   .belief = "the norm that counts is the one that the step uses",
                   .hint = "How would your records show that a gradient was far too long?",
                   .caught_by = drawn() + "golden_run_norms"},
                  trained<norm_after_clipping>()),
    add_bug<Impl>({.name = "loss_of_the_new_weights",
                   .belief = "the loss of a step is the one after it",
                   .hint = "Which weights does the loss belong to that you ran backward on?",
                   .caught_by = drawn() + "golden_run_losses"},
                  trained<loss_of_the_new_weights>()),
    add_bug<Impl>({.name = "stepped_means_skipped",
                   .belief = "scaler.step says whether it found inf",
                   .hint = "What does scaler.step return after a step that was taken?",
                   .caught_by = drawn() + "golden_run_finds_its_scale"},
                  trained<stepped_means_skipped>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
