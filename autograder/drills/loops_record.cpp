// Functions of the event_log and resume labs.
#include "drills/loops.hpp"

namespace gradlab::drills {
namespace {

Loop log_step() {
  return {
      "logged_step",
      "event_log",
      "A step that writes its record.",
      {"record.loss = loss.item<double>();", "record.scale = scaler.get_scale();",
       "optimizer.zero_grad();", "scaler.scale(loss).backward();", "scaler.unscale_(optimizer);",
       "record.norm = clip_grad_norm_(parameters, max_norm).item<double>();",
       "const bool stepped = scaler.step(optimizer);", "record.skipped = !stepped;",
       "if (stepped) schedule.step();", "scaler.update();",
       "record.scale_after = scaler.get_scale();"},
      {{"scaled_loss", "record.loss = loss.item<double>();",
        "record.loss = scaler.scale(loss).item<double>();", "",
        "The logged loss jumps whenever the scale changes.", "the loss is logged unscaled"},
       {"scale_after_update", "record.scale = scaler.get_scale();", "",
        "record.scale_after = scaler.get_scale();",
        "A skipped step is logged with a lower scale than the one that overflowed.",
        "the scale is read while it is the one that backward uses"},
       {"step_means_skip", "record.skipped = !stepped;", "record.skipped = stepped;", "",
        "Every good step is logged as a skip, and every skip as a good step.",
        "step returns whether the optimizer stepped"},
       {"norm_before_unscaling",
        "record.norm = clip_grad_norm_(parameters, max_norm).item<double>();", "",
        "scaler.unscale_(optimizer);",
        "The logged norm is too large by the scale, and so is what the limit meets.",
        "the norm is taken when the gradients are unscaled"},
       {"update_only_after_a_step", "scaler.update();", "if (stepped) scaler.update();", "",
        "After an overflow the scale stays, and the next unscale_ is refused.",
        "update runs whatever became of the step"},
       {"schedule_advances_always", "if (stepped) schedule.step();", "schedule.step();", "",
        "The logged learning rate moves on skipped steps too.",
        "the schedule follows steps that were taken"},
       {"skip_where_the_loss_is_not_finite", "record.skipped = !stepped;",
        "record.skipped = !std::isfinite(record.loss);", "",
        "Overflows whose loss is finite are not logged as skips.",
        "the scaler says whether it skipped"}}};
}

Loop load() {
  return {
      "load",
      "resume",
      "Loading a checkpoint, to go on as if nothing had happened.",
      {"for (auto& weight : trainer.weights) {", "  torch::Tensor saved;",
       "  archive.read(weight.name, saved);", "  weight.value.copy_(saved);", "}",
       "trainer.optimizer->load(part(archive, \"optimizer\"));",
       "trainer.scaler.load_state(state_of(part(archive, \"scaler\")));",
       "trainer.schedule.steps = number(archive, \"steps\");",
       "trainer.noise.set_state(tensor(archive, \"noise\"));",
       "trainer.order.position = number(archive, \"position\");"},
      {{"puts_new_tensors", "weight.value.copy_(saved);", "weight.value = saved;", "",
        "The optimizer goes on stepping the old tensors, and the model stands still.",
        "weights are copied in place: the optimizer holds these tensors"},
       {"optimizer_begins_anew", "trainer.optimizer->load(part(archive, \"optimizer\"));",
        "trainer.optimizer->state().clear();", "",
        "The moments are gone: the first steps are those of a run that begins.",
        "the optimizer's state comes back"},
       {"new_scaler_after_load", "trainer.scaler.load_state(state_of(part(archive, \"scaler\")));",
        "trainer.scaler = GradScaler();", "",
        "The scale begins at 65536 again, which costs a burst of skips.",
        "the scaler's state comes back"},
       {"one_step_more", "trainer.schedule.steps = number(archive, \"steps\");",
        "trainer.schedule.steps = number(archive, \"steps\") + 1;", "",
        "The learning rate is a step ahead of the run that was not cut.",
        "the schedule goes on where it was"},
       {"noise_from_its_seed", "trainer.noise.set_state(tensor(archive, \"noise\"));",
        "trainer.noise.set_current_seed(seed);", "",
        "Random numbers that were used before the cut are drawn again.",
        "the generator goes on in its sequence"},
       {"epoch_from_its_start", "trainer.order.position = number(archive, \"position\");",
        "trainer.order.position = 0;", "", "Examples that this epoch has seen already come again.",
        "the epoch goes on where it was"}}};
}

}  // namespace

std::vector<Loop> record_loops() { return {log_step(), load()}; }

}  // namespace gradlab::drills
