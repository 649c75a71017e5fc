// Predict: what a short run prints.
#include <fmt/format.h>

#include <cmath>

#include "drills/formulas.hpp"
#include "drills/templates.hpp"
#include "drills/text.hpp"

namespace gradlab::drills::templates {
namespace {

std::string scaler_line(const Scaler& scaler) {
  return fmt::format("GradScaler scaler({{.init_scale = {}, .growth_interval = {}}});",
                     shown(scaler.scale), scaler.interval);
}

Question scales(Random& random) {
  Scaler scaler;
  scaler.scale = std::ldexp(1, static_cast<int>(random.whole(3, 10)));
  scaler.interval = random.whole(2, 3);
  const int count = 6, overflow = static_cast<int>(random.whole(1, 4));
  std::vector<double> right, twice, kept;
  Scaler now = scaler, double_backoff = scaler, keeps_tracker = scaler;
  for (int i = 0; i < count; ++i) {
    const bool bad = i == overflow;
    now.update(bad);
    right.push_back(now.scale);
    double_backoff.update(bad);
    if (bad) double_backoff.scale *= double_backoff.backoff;
    twice.push_back(double_backoff.scale);
    const auto tracker = keeps_tracker.tracker;
    keeps_tracker.update(bad);
    if (bad) keeps_tracker.tracker = tracker;
    kept.push_back(keeps_tracker.scale);
  }
  auto q = ask_numbers(fmt::format("The gradients of iteration {} overflow, all others are finite. "
                                   "What does this print?",
                                   overflow),
                       right);
  q.code = {scaler_line(scaler), fmt::format("for (int i = 0; i < {}; ++i) {{", count),
            "  train_step(model, optimizer, scaler, batches[i]);  // with update()",
            "  std::cout << scaler.get_scale() << ' ';", "}"};
  q.miss(twice, "backs off twice");
  if (kept != right) q.miss(kept, "goes on counting through the overflow");
  q.hint = "Keep scale and tracker on paper, one line an iteration.";
  q.why = "The scale that is printed is the one after update, for the next iteration.";
  return q;
}

// Linear(in -> 1, no bias, weights w), x = c, y = 0, MSE: each weight's gradient is 2 w c c in.
Question golden_run(Random& random) {
  const auto in = random.whole(2, 8), x = random.whole(3, 20);
  const double gradient = 2.0 * static_cast<double>(in) * static_cast<double>(x * x);
  Scaler scaler;
  const int skips = skips_until_it_fits(gradient, scaler);
  auto q = ask_numbers(
      fmt::format(
          "CPU, float16 autocast, GradScaler's defaults. The model is Linear({} -> 1) without "
          "bias, all weights 1; every x is {}, every y is 0. The loop stops after its first "
          "step that is not skipped. What does it print?",
          in, x),
      {static_cast<double>(skips), scaler.scale});
  q.code = {"int skips = 0;", "while (!mixed_step(model, optimizer, scaler, batch)) ++skips;",
            "std::cout << skips << ' ' << scaler.get_scale();"};
  q.miss({static_cast<double>(skips - 1), scaler.scale * 2}, "stops at a scale that overflows")
      .miss({static_cast<double>(skips + 1), scaler.scale / 2}, "skips once too often")
      .miss({0, 65536}, "thinks that nothing overflows; a skip at the start is usual");
  q.hint = fmt::format("The gradient of each weight is 2 times {} times {} times {}.", in, x, x);
  q.why = fmt::format(
      "The gradient is {}. {} times {} is {}, the first product that float16 holds.",
      number(gradient), number(gradient), number(scaler.scale), number(gradient * scaler.scale));
  return q;
}

Question two_counts(Random& random) {
  const int count = static_cast<int>(random.whole(5, 9));
  const int a = static_cast<int>(random.whole(0, 2)), b = static_cast<int>(random.whole(3, 4));
  const bool together = random.coin();
  Scaler scaler;
  scaler.scale = 1024;
  const double first = scaler.scale;
  for (int i = 0; i < count; ++i) scaler.update(i == a || i == b);
  const double n = count;
  const double steps_a = together ? n - 2 : n - 1, steps_b = n - 1;
  auto q = ask_numbers(
      fmt::format(
          "Two optimizers, one scaler with scale {} and interval 2000, {} iterations. "
          "Optimizer A overflows in iteration {}{}, B in iteration {}. What is printed: the "
          "steps that A took, those of B, and the scale?",
          number(first), count, a, together ? fmt::format(" and {}", b) : "", b),
      {steps_a, steps_b, scaler.scale});
  q.code = {"std::cout << steps_a << ' ' << steps_b << ' ' << scaler.get_scale();"};
  q.miss({n - 2, n - 2, scaler.scale}, "skips both where one overflows")
      .miss({steps_a, steps_b, together ? scaler.scale / 2 : scaler.scale * 2},
            together ? "backs off once for each optimizer" : "backs off only once in all")
      .miss({n, n, scaler.scale}, "counts skipped steps as taken");
  q.hint = "Each optimizer decides for itself; update looks at both.";
  q.why = "Each overflow costs its own optimizer a step, and each iteration with one a backoff.";
  return q;
}

Question accumulation(Random& random) {
  const auto window = random.whole(3, 8), windows = random.whole(3, 20);
  const auto rest = random.whole(1, window - 1);
  const auto batches = window * windows + rest;
  auto q = ask_number(
      fmt::format(
          "An epoch has {} micro-batches, a window {}; the rest at the end makes a window of "
          "its own. How often does scaler.update() run in the epoch?",
          batches, window),
      static_cast<double>(windows + 1), 0, "times");
  q.miss(static_cast<double>(windows), "drops the rest")
      .miss(static_cast<double>(batches), "updates with each micro-batch");
  q.hint = "Once a window.";
  q.why = fmt::format("{} full windows and one of {}.", windows, rest);
  return q;
}

Question schedule_steps(Random& random) {
  const auto steps = random.whole(20, 300), skips = random.whole(2, 9);
  auto q = ask_number(fmt::format("{} iterations, {} of them skipped. How often does a right loop "
                                  "call schedule.step()?",
                                  steps, skips),
                      static_cast<double>(steps - skips), 0, "times");
  q.miss(static_cast<double>(steps), "moves the schedule on skipped steps too")
      .miss(static_cast<double>(skips), "counts the skips")
      .miss(static_cast<double>(steps - skips - 1), "counts one too few");
  q.hint = "What did the weights do in a skipped step?";
  q.why = "Only after a step that was taken.";
  return q;
}

Question update_count(Random& random) {
  const auto steps = random.whole(20, 300), skips = random.whole(2, 9);
  auto q = ask_number(fmt::format("{} iterations, {} of them skipped. How often does a right loop "
                                  "call scaler.update()?",
                                  steps, skips),
                      static_cast<double>(steps), 0, "times");
  q.miss(static_cast<double>(steps - skips), "leaves update out where a step is skipped")
      .miss(static_cast<double>(skips), "updates only after an overflow");
  q.hint = "Who makes the scale smaller after an overflow?";
  q.why = "Once an iteration, whatever became of the step.";
  return q;
}

}  // namespace

std::vector<Template> predictions() {
  return {{"loss_scaling.predict_scales", "loss_scaling", Kind::kPredict, scales},
          {"loss_scaling.predict_first_steps", "loss_scaling", Kind::kPredict, golden_run},
          {"step_order.predict_two_counts", "step_order", Kind::kPredict, two_counts},
          {"step_order.predict_updates_of_windows", "step_order", Kind::kPredict, accumulation},
          {"step_order.predict_schedule_steps", "step_order", Kind::kPredict, schedule_steps},
          {"step_order.predict_updates", "step_order", Kind::kPredict, update_count}};
}

}  // namespace gradlab::drills::templates
