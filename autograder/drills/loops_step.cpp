// Loops of the step_order lab.
#include "drills/loops.hpp"

namespace gradlab::drills {
namespace {

Loop one_step() {
  return {
      "one_step",
      "step_order",
      "A loop of mixed precision with clipping and a schedule.",
      {"for (const auto& batch : batches) {", "  optimizer.zero_grad();",
       "  const auto loss = loss_in_region(model, batch);", "  scaler.scale(loss).backward();",
       "  scaler.unscale_(optimizer);", "  clip_grad_norm_(parameters, max_norm);",
       "  const bool stepped = scaler.step(optimizer);", "  scaler.update();",
       "  if (stepped) schedule.step();", "}"},
      {{"clips_before_unscaling", "clip_grad_norm_(parameters, max_norm);", "",
        "scaler.unscale_(optimizer);",
        "The limit meets gradients that are too large by the scale: next to nothing is left of a "
        "step.",
        "gradients are clipped when they have their true size"},
       {"drops_the_scaled_loss", "scaler.scale(loss).backward();",
        "scaler.scale(loss); loss.backward();", "",
        "Gradients that were never multiplied by the scale are divided by it.",
        "backward starts from the scaled loss"},
       {"steps_the_optimizer_itself", "const bool stepped = scaler.step(optimizer);",
        "optimizer.step(); const bool stepped = true;", "",
        "Nobody looks for an overflow: inf reaches the weights.",
        "the scaler decides whether the optimizer steps"},
       {"updates_only_after_a_step", "scaler.update();", "if (stepped) scaler.update();", "",
        "After an overflow the scale stays, and the next unscale_ is refused.",
        "update runs whatever became of the step"},
       {"updates_before_stepping", "scaler.update();", "",
        "const bool stepped = scaler.step(optimizer);",
        "step takes the gradients for scaled ones and divides them a second time.",
        "update comes when every step is taken or skipped"},
       {"schedule_always", "if (stepped) schedule.step();", "schedule.step();", "",
        "The learning rate moves on although the weights did not change.",
        "the schedule follows steps that were taken"},
       {"zeroes_before_the_step", "optimizer.zero_grad();", "",
        "const bool stepped = scaler.step(optimizer);",
        "The step finds no gradient, and nothing is learned.",
        "gradients are cleared before the next backward, or after the step"}}};
}

Loop window() {
  return {"window",
          "step_order",
          "One step from a window of micro-batches.",
          {"optimizer.zero_grad();", "for (const auto& batch : window) {",
           "  const auto loss = loss_in_region(model, batch) / count;",
           "  scaler.scale(loss).backward();", "}", "scaler.unscale_(optimizer);",
           "clip_grad_norm_(parameters, max_norm);", "scaler.step(optimizer);", "scaler.update();"},
          {{"unscales_each_micro_batch", "scaler.unscale_(optimizer);", "", "}",
            "The second micro-batch's unscale_ is refused: it was called before.",
            "gradients are unscaled once, when all of them are there"},
           {"sums_the_losses", "const auto loss = loss_in_region(model, batch) / count;",
            "const auto loss = loss_in_region(model, batch);", "",
            "The gradients are too large by the number of micro-batches.",
            "each loss is divided by the number of micro-batches"},
           {"zeroes_each_micro_batch", "optimizer.zero_grad();", "",
            "const auto loss = loss_in_region(model, batch) / count;",
            "Only the last micro-batch counts.", "gradients are cleared once a window"},
           {"clips_each_micro_batch", "clip_grad_norm_(parameters, max_norm);", "", "}",
            "The limit meets scaled gradients, once a micro-batch, and never the whole sum.",
            "the sum of all micro-batches is clipped, once"},
           {"updates_each_micro_batch", "scaler.update();", "", "}",
            "update is refused: no optimizer was unscaled or stepped yet.",
            "the scale stays the same within a window"},
           {"steps_each_micro_batch", "scaler.step(optimizer);", "", "}",
            "The second micro-batch's step is refused: it was called before.",
            "a window is one step"}}};
}

Loop two_optimizers() {
  return {"two_optimizers",
          "step_order",
          "Two models with an optimizer each share a scaler.",
          {"for (const Side* side : {&first, &second}) {", "  side->optimizer.zero_grad();",
           "  const auto loss = loss_in_region(side->model, side->batch);",
           "  scaler.scale(loss).backward();", "  scaler.unscale_(side->optimizer);",
           "  clip_grad_norm_(side->parameters, max_norm);", "  scaler.step(side->optimizer);", "}",
           "scaler.update();"},
          {{"updates_after_each", "scaler.update();", "", "}",
            "The scaler counts two updates an iteration: it grows and backs off twice as fast.",
            "one update closes the iteration, after both steps"},
           {"clips_the_first_twice", "clip_grad_norm_(side->parameters, max_norm);",
            "clip_grad_norm_(first.parameters, max_norm);", "",
            "The second model's gradients are never clipped.", "each model is clipped by itself"},
           {"zeroes_the_first_only", "side->optimizer.zero_grad();", "first.optimizer.zero_grad();",
            "", "The second model adds up gradients from one iteration to the next.",
            "each model's gradients are cleared"},
           {"steps_without_asking", "scaler.step(side->optimizer);", "side->optimizer.step();", "",
            "A model whose gradients overflowed takes inf into its weights.",
            "each optimizer steps or skips by itself"}}};
}

}  // namespace

std::vector<Loop> step_loops() { return {one_step(), window(), two_optimizers()}; }

}  // namespace gradlab::drills
