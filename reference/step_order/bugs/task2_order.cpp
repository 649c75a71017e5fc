// Known mistakes in accumulated_step: what comes once a micro-batch, and what once a window.
#include "common.hpp"

namespace gradlab::step_order_bugs {
namespace {

void unscales_each_micro_batch(const Window& w) {
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) {
    w.scaled_backward(w.loss(i) / w.count());
    w.unscale();
  }
  w.clip();
  w.step();
  w.scaler.update();
}

void unscales_after_the_first(const Window& w) {
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) {
    w.scaled_backward(w.loss(i) / w.count());
    if (i == 0) w.unscale();
  }
  w.clip();
  w.step();
  w.scaler.update();
}

void updates_each_micro_batch(const Window& w) {
  w.zero_grad();
  for (size_t i = 0; i < w.batches.size(); ++i) {
    w.scaled_backward(w.loss(i) / w.count());
    if (i + 1 == w.batches.size()) w.finish();
    w.scaler.update();
  }
}

void steps_each_micro_batch(const Window& w) {
  for (size_t i = 0; i < w.batches.size(); ++i) {
    w.zero_grad();
    w.scaled_backward(w.loss(i) / w.count());
    w.finish();
    w.scaler.update();
  }
}

void zeroes_each_micro_batch(const Window& w) {
  for (size_t i = 0; i < w.batches.size(); ++i) {
    w.zero_grad();
    w.scaled_backward(w.loss(i) / w.count());
  }
  w.finish();
  w.scaler.update();
}

void never_zeroes(const Window& w) {
  w.accumulate();
  w.finish();
  w.scaler.update();
}

void zeroes_only_after_a_step(const Window& w) {
  w.accumulate();
  if (w.finish()) w.zero_grad();
  w.scaler.update();
}

void updates_only_after_a_step(const Window& w) {
  w.zero_grad();
  w.accumulate();
  if (w.finish()) w.scaler.update();
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "unscales_each_micro_batch",
                   .belief = "every backward needs its unscale_",
                   .hint = "How often may an optimizer be unscaled between two updates?",
                   .caught_by = all_of_task2()},
                  accumulated<unscales_each_micro_batch>()),
    add_bug<Impl>({.name = "unscales_after_the_first",
                   .belief = "unscale_ once a window, whenever",
                   .hint = "At what size are the gradients that later micro-batches add?",
                   .caught_by = all_of_task2()},
                  accumulated<unscales_after_the_first>()),
    add_bug<Impl>({.name = "updates_each_micro_batch",
                   .belief = "every backward ends with an update",
                   .hint = "What can update know about gradients that nobody has looked at yet?",
                   .caught_by = all_of_task2()},
                  accumulated<updates_each_micro_batch>()),
    add_bug<Impl>({.name = "steps_each_micro_batch",
                   .belief = "accumulation means smaller steps, one for each micro-batch",
                   .hint = "How often does the optimizer step in a window?",
                   .caught_by = all_of_task2()},
                  accumulated<steps_each_micro_batch>()),
    add_bug<Impl>({.name = "zeroes_each_micro_batch",
                   .belief = "zero_grad comes before every backward",
                   .hint = "What is left of the first micro-batch when the last one has run?",
                   .caught_by = weights_of_task2() + "overflow_anywhere_skips_the_window"},
                  accumulated<zeroes_each_micro_batch>()),
    add_bug<Impl>(
        {.name = "window_never_zeroes",
         .belief = "accumulation goes on for ever",
         .hint = "Where does one window end and the next one begin?",
         .caught_by = {"weights_over_many_windows", "the_window_after_an_overflow_trains"}},
        accumulated<never_zeroes>()),
    add_bug<Impl>({.name = "window_zeroes_only_after_a_step",
                   .belief = "a skipped window is made up for by the next one",
                   .hint = "What is inf plus the next window's gradient?",
                   .caught_by = {"the_window_after_an_overflow_trains"}},
                  accumulated<zeroes_only_after_a_step>()),
    add_bug<Impl>({.name = "window_updates_only_after_a_step",
                   .belief = "a skipped window needs no update",
                   .hint = "Who makes the scale smaller after an overflow?",
                   .caught_by = {"overflow_anywhere_skips_the_window",
                                 "the_window_after_an_overflow_trains"}},
                  accumulated<updates_only_after_a_step>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
