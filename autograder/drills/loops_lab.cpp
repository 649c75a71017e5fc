// Functions of the clipping, autocast and loss_scaling labs.
#include "drills/loops.hpp"

namespace gradlab::drills {
namespace {

Loop clip() {
  return {
      "clip_gradients",
      "clipping",
      "Clipping by the total norm.",
      {"double clip_gradients(const Tensors& parameters, double max_norm) {",
       "  double squares = 0;", "  for (const auto& p : parameters) {",
       "    if (!p.grad().defined()) continue;",
       "    squares += p.grad().square().sum().item<double>();", "  }",
       "  const double norm = std::sqrt(squares);",
       "  const double factor = std::min(1.0, max_norm / (norm + 1e-6));",
       "  for (const auto& p : parameters) {", "    if (p.grad().defined()) p.grad().mul_(factor);",
       "  }", "  return norm;", "}"},
      {{"stops_at_missing_gradient", "if (!p.grad().defined()) continue;",
        "if (!p.grad().defined()) break;", "",
        "Parameters behind one without a gradient do not count in the norm.",
        "a parameter without a gradient is passed over"},
       {"no_square_root", "const double norm = std::sqrt(squares);", "const double norm = squares;",
        "", "A norm of 5 becomes 25: gradients above 1 shrink far too much.",
        "the norm is the root of the sum of squares"},
       {"scales_always", "const double factor = std::min(1.0, max_norm / (norm + 1e-6));",
        "const double factor = max_norm / (norm + 1e-6);", "",
        "Gradients below the limit are blown up to it.", "the factor is never above 1"},
       {"inverts_the_coefficient", "const double factor = std::min(1.0, max_norm / (norm + 1e-6));",
        "const double factor = std::min(1.0, norm / (max_norm + 1e-6));", "",
        "Large gradients stay, small ones are made smaller still.",
        "the limit is divided by the norm"},
       {"result_thrown_away", "if (p.grad().defined()) p.grad().mul_(factor);",
        "if (p.grad().defined()) p.grad().mul(factor);", "",
        "No gradient ever changes: the product is thrown away.", "mul_ works in place"},
       {"returns_the_norm_after", "return norm;", "return norm * factor;", "",
        "A log of what is returned never shows a norm above the limit.",
        "the norm before clipping is returned"},
       {"largest_tensor_norm", "squares += p.grad().square().sum().item<double>();",
        "squares = std::max(squares, p.grad().square().sum().item<double>());", "",
        "Many tensors of middling size together pass the limit unclipped.",
        "all tensors add to one sum"}}};
}

Loop region() {
  return {
      "region",
      "autocast",
      "A training step with an autocast region.",
      {"optimizer.zero_grad();", "torch::Tensor out, loss;", "{",
       "  const AutocastGuard autocast(torch::kCPU, torch::kHalf);",
       "  out = model.forward(batch.x);", "  loss = torch::mse_loss(out, batch.y);", "}",
       "loss.backward();", "optimizer.step();"},
      {{"backward_in_the_region", "loss.backward();", "", "}",
        "Backward's operations are cast anew instead of running in forward's types.",
        "backward runs outside, in the types that forward chose"},
       {"takes_the_loss_outside", "loss = torch::mse_loss(out, batch.y);", "", "loss.backward();",
        "The output is half and the target float32: backward refuses the mixture.",
        "the loss is taken in the region, which computes it in float32"},
       {"names_another_device", "const AutocastGuard autocast(torch::kCPU, torch::kHalf);",
        "const AutocastGuard autocast(torch::kCUDA, torch::kHalf);", "",
        "Nothing is cast: the model runs on the CPU, in float32.",
        "the region names the device that the model runs on"},
       {"detaches_the_output", "out = model.forward(batch.x);",
        "out = model.forward(batch.x).detach();", "",
        "Backward is refused: nothing leads from the loss to a weight.",
        "the output keeps its history"},
       {"clears_gradients_before_the_step", "optimizer.zero_grad();", "", "optimizer.step();",
        "The step finds no gradient, and nothing is learned.",
        "gradients are cleared before the next backward"}}};
}

Loop update() {
  return {
      "update_scale",
      "loss_scaling",
      "What GradScaler does in update().",
      {"void update(float& scale, int& tracker, bool found_inf) {", "  if (found_inf) {",
       "    scale *= backoff_factor;", "    tracker = 0;", "    return;", "  }", "  tracker += 1;",
       "  if (tracker == growth_interval) {",
       "    if (std::isfinite(scale * growth_factor)) scale *= growth_factor;", "    tracker = 0;",
       "  }", "}"},
      {{"divides_by_the_backoff", "scale *= backoff_factor;", "scale /= backoff_factor;", "",
        "An overflow makes the scale larger, so the next step overflows too.",
        "an overflow makes the scale smaller"},
       {"counts_skipped_updates", "tracker = 0;", "tracker += 1;", "",
        "Skipped steps count towards growth.", "an overflow sets the tracker to 0"},
       {"one_update_late", "if (tracker == growth_interval) {", "if (tracker > growth_interval) {",
        "", "The scale grows one good update late.", "the scale grows when the interval is full"},
       {"no_limit", "if (std::isfinite(scale * growth_factor)) scale *= growth_factor;",
        "scale *= growth_factor;", "",
        "The scale can grow into infinity, from which it never comes back.",
        "growth beyond float32 is refused"},
       {"starts_again_at_one", "tracker = 0;", "tracker = 1;", "",
        "Each growth after the first comes one good update early.",
        "after a growth the tracker is 0", 1}}};
}

}  // namespace

std::vector<Loop> lab_loops() { return {clip(), region(), update()}; }

}  // namespace gradlab::drills
