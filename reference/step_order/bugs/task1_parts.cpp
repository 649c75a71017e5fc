// Known mistakes in mixed_step where the order is right and a part is not: the region, the skip,
// the scaler.
#include <ATen/autocast_mode.h>

#include <cmath>

#include "common.hpp"

namespace gradlab::step_order_bugs {
namespace {

void stays_in_float32(const Step& s) {
  s.zero_grad();
  s.scaled_backward(torch::mse_loss(s.model.forward(s.batch.x), s.batch.y));
  s.finish();
  s.scaler.update();
}

void takes_the_default_type(const Step& s) {
  s.zero_grad();
  s.scaled_backward(loss_of(s.model, s.batch, torch::kBFloat16));
  s.finish();
  s.scaler.update();
}

void backward_in_the_region(const Step& s) {
  s.zero_grad();
  {
    const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
    s.scaled_backward(torch::mse_loss(s.model.forward(s.batch.x), s.batch.y));
  }
  s.finish();
  s.scaler.update();
}

void whole_step_in_the_region(const Step& s) {
  const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
  s.right();
}

void loss_outside_the_region(const Step& s) {
  s.zero_grad();
  torch::Tensor out;
  {
    const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
    out = s.model.forward(s.batch.x);
  }
  s.scaled_backward(torch::mse_loss(out, s.batch.y));
  s.finish();
  s.scaler.update();
}

void switch_autocast(bool on) {
  at::autocast::set_autocast_enabled(torch::kCPU, on);
  at::autocast::set_autocast_dtype(torch::kCPU, torch::kHalf);
}

void switches_by_hand(const Step& s) {
  s.zero_grad();
  switch_autocast(true);
  const auto loss = torch::mse_loss(s.model.forward(s.batch.x), s.batch.y);
  switch_autocast(false);
  s.scaled_backward(loss);
  s.finish();
  s.scaler.update();
}

void leaves_autocast_on(const Step& s) {
  s.right();
  switch_autocast(true);
}

void casts_the_model(const Step& s) {
  s.zero_grad();
  for (auto weight : s.model.weights) weight.set_data(weight.detach().to(torch::kHalf));
  s.scaled_backward(
      torch::mse_loss(s.model.forward(s.batch.x.to(torch::kHalf)).to(torch::kFloat), s.batch.y));
  s.finish();
  s.scaler.update();
}

void asks_the_loss(const Step& s) {
  s.zero_grad();
  const auto loss = s.loss();
  s.scaled_backward(loss);
  s.unscale();
  s.clip();
  if (std::isfinite(loss.item<double>())) s.optimizer.step();
  s.scaler.update();
}

void cleans_the_gradients(const Step& s) {
  s.zero_grad();
  s.scaled_backward(s.loss());
  for (const auto& weight : s.model.weights) weight.grad().nan_to_num_(0, 0, 0);
  s.finish();
  s.scaler.update();
}

void loss_in_float16(const Step& s) {
  s.zero_grad();
  s.scaled_backward(float16_loss_of(s.model, s.batch));
  s.finish();
  s.scaler.update();
}

void returns_at_a_bad_loss(const Step& s) {
  s.zero_grad();
  const auto loss = s.loss();
  if (!std::isfinite(loss.item<double>())) return;
  s.scaled_backward(loss);
  s.finish();
  s.scaler.update();
}

void backs_off_itself(const Step& s) {
  if (!s.right()) s.scaler.update(s.scaler.get_scale() * s.scaler.get_backoff_factor());
}

void makes_its_own_scaler(const Step& s) {
  Scaler scaler;
  Step{{s.model, s.optimizer, scaler, s.max_norm}, s.batch}.right();
}

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>(
        {.name = "stays_in_float32",
         .belief = "a scaler is all that mixed precision needs",
         .hint = "In which type does your forward compute, and what makes it another one?",
         .caught_by = skips_of_task1() + "forward_runs_in_float16"},
        mixed<stays_in_float32>()),
    add_bug<Impl>({.name = "takes_the_default_type",
                   .belief = "autocast computes in float16 unless told otherwise",
                   .hint = "Which type does a region on the CPU have when you name none?",
                   .caught_by = skips_of_task1() + "forward_runs_in_float16"},
                  mixed<takes_the_default_type>()),
    add_bug<Impl>({.name = "backward_in_the_region",
                   .belief = "everything that computes gradients belongs into the region",
                   .hint = "Where does the guard's scope end in your code, and where is backward?",
                   .caught_by = {"autocast_ends_before_backward"}},
                  mixed<backward_in_the_region>()),
    add_bug<Impl>({.name = "whole_step_in_the_region",
                   .belief = "a guard at the top of the function is the simplest region",
                   .hint = "Which calls of your function still run while the guard lives?",
                   .caught_by = {"autocast_ends_before_backward"}},
                  mixed<whole_step_in_the_region>()),
    add_bug<Impl>({.name = "loss_outside_the_region",
                   .belief = "only the model's forward belongs into the region",
                   .hint = "Which type has the model's output, and which one the targets?",
                   .caught_by = all_of_task1()},
                  mixed<loss_outside_the_region>()),
    add_bug<Impl>({.name = "switches_by_hand",
                   .belief = "autocast is a switch, and has nothing to clean up",
                   .hint = "What does autocast keep of a weight until its region ends, and does it "
                           "see the next step's weights?",
                   .caught_by = {"weights_over_many_steps", "the_limit_is_for_true_gradients",
                                 "the_batch_after_an_overflow_trains"}},
                  mixed<switches_by_hand>()),
    add_bug<Impl>({.name = "leaves_autocast_on",
                   .belief = "the region may stay open for the next step",
                   .hint = "What runs in float16 between your call and the next one?",
                   .caught_by = {"autocast_ends_before_backward"}},
                  mixed<leaves_autocast_on>()),
    add_bug<Impl>({.name = "casts_the_model",
                   .belief = "mixed precision means a model in float16",
                   .hint = "Which copy of the weights is trained, and in which type?",
                   .caught_by = all_of_task1()},
                  mixed<casts_the_model>()),
    add_bug<Impl>({.name = "asks_the_loss",
                   .belief = "a finite loss has finite gradients",
                   .hint = "The loss is 1600 and the scale 65536. Is the loss finite, and is a "
                           "gradient of 800?",
                   .caught_by = skips_of_task1()},
                  mixed<asks_the_loss>()),
    add_bug<Impl>({.name = "cleans_the_gradients",
                   .belief = "inf in a gradient is repaired by a zero",
                   .hint = "How shall the scaler know of an overflow that you have wiped off?",
                   .caught_by = skips_of_task1()},
                  mixed<cleans_the_gradients>()),
    add_bug<Impl>({.name = "loss_in_float16",
                   .belief = "the loss is float16 too before it is scaled",
                   .hint = "The first scale is 65536. Which is the largest number of float16?",
                   .caught_by = {"one_step_worked_by_hand", "scale_and_tracker_at_every_step"}},
                  mixed<loss_in_float16>()),
    add_bug<Impl>({.name = "returns_at_a_bad_loss",
                   .belief = "with a loss of inf or NaN there is nothing left to do",
                   .hint = "Who tells the scaler of a batch that you returned from?",
                   .caught_by = {"scale_and_tracker_at_every_step"}},
                  mixed<returns_at_a_bad_loss>()),
    add_bug<Impl>({.name = "backs_off_itself",
                   .belief = "whoever sees a skip has to halve the scale",
                   .hint = "What has update already done after a skip?",
                   .caught_by = {"scale_and_tracker_at_every_step"}},
                  mixed<backs_off_itself>()),
    add_bug<Impl>({.name = "makes_its_own_scaler",
                   .belief = "a scaler is made anew for each step",
                   .hint = "What does a scaler learn from one step for the next?",
                   .caught_by = weights_of_task1() + "scale_and_tracker_at_every_step"},
                  mixed<makes_its_own_scaler>()),
};

}  // namespace
}  // namespace gradlab::step_order_bugs
