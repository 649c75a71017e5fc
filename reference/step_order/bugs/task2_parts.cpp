// Known mistakes in accumulated_step: the mean, the clip, and which windows count.
#include <algorithm>
#include <cmath>

#include "common.hpp"

namespace gradlab::step_order_bugs {
namespace {

void sums_the_losses(const Window& w) {
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) w.scaled_backward(w.loss(i));
  w.finish();
  w.scaler.update();
}

void divides_by_the_largest_window(const Window& w) {
  static double largest = 0;
  largest = std::max(largest, w.count());
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) w.scaled_backward(w.loss(i) / largest);
  w.finish();
  w.scaler.update();
}

void divides_after_clipping(const Window& w) {
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) w.scaled_backward(w.loss(i));
  w.unscale();
  w.clip();
  for (const auto& weight : w.model.weights) weight.grad().div_(w.count());
  w.step();
  w.scaler.update();
}

void clips_each_micro_batch(const Window& w) {
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) {
    w.scaled_backward(w.loss(i) / w.count());
    w.clip();
  }
  w.unscale();
  w.step();
  w.scaler.update();
}

void clips_before_unscaling(const Window& w) {
  w.zero_grad();
  w.accumulate();
  w.clip();
  w.step();
  w.scaler.update();
}

void leaves_out_bad_losses(const Window& w) {
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) {
    const auto loss = w.loss(i) / w.count();
    if (std::isfinite(loss.item<double>())) w.scaled_backward(loss);
  }
  w.finish();
  w.scaler.update();
}

void asks_the_last_loss(const Window& w) {
  w.zero_grad();
  w.accumulate();
  w.unscale();
  w.clip();
  if (std::isfinite(w.loss(w.batches.size() - 1).item<double>())) w.optimizer.step();
  w.scaler.update();
}

void drops_a_short_window(const Window& w) {
  static size_t largest = 0;
  largest = std::max(largest, w.batches.size());
  if (w.batches.size() == largest) w.right();
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "sums_the_losses",
         .belief = "the gradients of a window are added, and that is all",
         .hint = "Should a window of four move the weights four times as far as one large "
                 "batch of the same rows?",
         .caught_by = weights_of_task2()},
        accumulated<sums_the_losses>()),
    add_bug<Impl>({.name = "divides_by_the_largest_window",
                   .belief = "every window has the length of the first one",
                   .hint = "The last window of an epoch has two micro-batches instead of four. By "
                           "what do you divide?",
                   .caught_by = {"a_short_window_counts_its_own_batches"}},
                  accumulated<divides_by_the_largest_window>()),
    add_bug<Impl>(
        {.name = "divides_after_clipping",
         .belief = "the mean can be taken at any time before the step",
         .hint = "Which gradient does the limit meet: the sum of the window, or its mean?",
         .caught_by = limits_of_task2()},
        accumulated<divides_after_clipping>()),
    add_bug<Impl>({.name = "clips_each_micro_batch",
                   .belief = "each micro-batch is clipped after its backward",
                   .hint = "Of what is the limit: of one micro-batch, or of the step?",
                   .caught_by = limits_of_task2()},
                  accumulated<clips_each_micro_batch>()),
    add_bug<Impl>({.name = "window_clips_before_unscaling",
                   .belief = "step unscales in time for the clip",
                   .hint = "How large are the gradients when your limit meets them?",
                   .caught_by = limits_of_task2()},
                  accumulated<clips_before_unscaling>()),
    add_bug<Impl>(
        {.name = "leaves_out_bad_losses",
         .belief = "a micro-batch with a bad loss can be left out of the window",
         .hint = "What does the contract say of a window with one such micro-batch, and how "
                 "does the scaler hear of it?",
         .caught_by = {"overflow_anywhere_skips_the_window",
                       "the_window_after_an_overflow_trains"}},
        accumulated<leaves_out_bad_losses>()),
    add_bug<Impl>({.name = "asks_the_last_loss",
                   .belief = "the last loss tells whether the window is sound",
                   .hint = "Which of the micro-batches does your question leave out?",
                   .caught_by = {"overflow_anywhere_skips_the_window",
                                 "the_window_after_an_overflow_trains"}},
                  accumulated<asks_the_last_loss>()),
    add_bug<Impl>({.name = "drops_a_short_window",
                   .belief = "only a full window is worth a step",
                   .hint = "What happens to the last rows of an epoch?",
                   .caught_by = {"a_short_window_counts_its_own_batches"}},
                  accumulated<drops_a_short_window>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
