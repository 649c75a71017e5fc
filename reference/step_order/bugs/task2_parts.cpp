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

void divides_by_the_window_twice(const Window& w) {
  w.zero_grad();
  w.accumulate();
  w.unscale();
  for (const auto& weight : w.model.weights) weight.grad().div_(w.count());
  w.clip();
  w.step();
  w.scaler.update();
}

void weighs_by_rows(const Window& w) {
  int64_t rows = 0;
  for (const auto& batch : w.batches) rows += batch.x.size(0);
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) {
    w.scaled_backward(w.loss(i) * (static_cast<double>(w.batches[i].x.size(0)) / rows));
  }
  w.finish();
  w.scaler.update();
}

void window_loss_in_float16(const Window& w) {
  w.zero_grad();
  for (const auto& batch : w.batches) {
    w.scaled_backward(float16_loss_of(w.model, batch) / w.count());
  }
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

void window_clips_each_value(const Window& w) {
  w.zero_grad();
  w.accumulate();
  w.unscale();
  w.clip_values();
  w.step();
  w.scaler.update();
}

void window_returns_at_a_bad_loss(const Window& w) {
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) {
    const auto loss = w.loss(i) / w.count();
    if (!std::isfinite(loss.item<double>())) return;
    w.scaled_backward(loss);
  }
  w.finish();
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
    add_bug<Impl>(
        {.name = "divides_by_the_window_twice",
         .belief = "losses that are divided by the window's size still add up to a sum",
         .hint = "Each loss is divided by the number of micro-batches. What is the sum of "
                 "their gradients then: a sum, or a mean already?",
         .caught_by = weights_of_task2()},
        accumulated<divides_by_the_window_twice>()),
    add_bug<Impl>(
        {.name = "weighs_by_rows",
         .belief = "a micro-batch counts by its rows",
         .hint = "The contract asks for the mean of the losses. How much does each of two "
                 "losses count in it?",
         .caught_by = {"one_window_worked_by_hand"}},
        accumulated<weighs_by_rows>()),
    add_bug<Impl>({.name = "window_loss_in_float16",
                   .belief = "the losses of a window are float16 before they are scaled",
                   .hint = "The first scale is 65536. Which is the largest number of float16?",
                   .caught_by = {"one_window_worked_by_hand", "the_scale_moves_once_a_window"}},
                  accumulated<window_loss_in_float16>()),
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
    add_bug<Impl>({.name = "window_clips_each_value",
                   .belief = "max_norm limits each element of the window's gradient",
                   .hint = "What is the norm of a gradient whose elements are all max_norm?",
                   .caught_by = limits_of_task2()},
                  accumulated<window_clips_each_value>()),
    add_bug<Impl>({.name = "window_returns_at_a_bad_loss",
                   .belief = "a window with a bad loss is over at once",
                   .hint = "Who makes the scale smaller when you return in the middle?",
                   .caught_by = {"the_window_after_an_overflow_trains"}},
                  accumulated<window_returns_at_a_bad_loss>()),
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
