#include "drills/log_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "drills/text.hpp"

namespace gradlab::drills {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kSteps = 300;

// What makes a run unlike a healthy one.
struct Plan {
  double norm = 0.6;
  double max_norm = 1;
  std::function<bool(int)> bad_gradient = [](int) { return false; };  // inf, whatever the scale
  std::function<bool(int)> bad_loss = [](int) { return false; };      // NaN before it is scaled
  bool norm_times_scale = false;                                      // as it is logged
  bool scale_read_late = false;
  bool lr_moves_on_skips = false;
  int interval = 2000;
  double first_scale = 65536;
};

double wobble(Random& random, double share) {
  return 1 + share * static_cast<double>(random.whole(-1000, 1000)) / 1000;
}

LogRun run_of(const std::string& cause, const Plan& plan, int event, Random& random) {
  LogRun run;
  run.cause = cause;
  run.max_norm = plan.max_norm;
  run.event = event;
  run.scaler.interval = plan.interval;
  run.scaler.scale = plan.first_scale;
  Scaler scaler = run.scaler;
  int moves = 0;
  for (int i = 0; i < kSteps; ++i) {
    LoggedStep step;
    step.step = i;
    step.loss = (0.8 + 1.6 * std::exp(-i / 120.0)) * wobble(random, 0.02);
    step.norm = plan.norm * wobble(random, 0.25);
    step.scale = scaler.scale;
    if (plan.bad_loss(i)) step.loss = step.norm = std::nan("");
    if (plan.bad_gradient(i)) step.norm = kInf;
    step.skipped = !std::isfinite(step.norm);
    step.lr = 1e-3 * (1 - static_cast<double>(moves) / 1000);
    scaler.update(step.skipped);
    step.scale_after = scaler.scale;
    if (!step.skipped || plan.lr_moves_on_skips) ++moves;
    if (plan.norm_times_scale) step.norm *= step.scale;
    if (plan.scale_read_late) step.scale = step.scale_after;
    run.steps.push_back(step);
  }
  return run;
}

std::function<bool(int)> at(int step) {
  return [step](int i) { return i == step; };
}

Plan plan_for(const std::string& cause, int event, Random& random) {
  Plan plan;
  plan.norm = 0.3 + 0.1 * static_cast<double>(random.whole(0, 4));
  plan.max_norm = plan.norm;  // about every second step is clipped
  if (cause == "single_overflow") plan.bad_gradient = at(event);
  if (cause == "scale_collapse") plan.bad_gradient = [event](int i) { return i >= event; };
  if (cause == "nan_without_overflow") {
    plan.bad_loss = [event](int i) { return i >= event && i < event + 3; };
  }
  if (cause == "clip_never") plan.max_norm = 100;
  if (cause == "clip_always") plan.norm = 40;
  if (cause == "norm_scaled") {
    plan.norm_times_scale = true;
    plan.bad_gradient = [event](int i) { return i % 40 == event % 40; };
  }
  if (cause == "scale_logged_after") {
    plan.scale_read_late = true;
    plan.bad_gradient = [event](int i) { return i % 50 == event % 50; };
  }
  if (cause == "schedule_on_skips") {
    plan.lr_moves_on_skips = true;
    plan.bad_gradient = [event](int i) { return i % 40 == event % 40; };
  }
  return plan;
}

std::string value(double x, const char* digits) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return "inf";
  return fmt::format(fmt::runtime(digits), x);
}

}  // namespace

const std::vector<std::string>& log_causes() {
  static const std::vector<std::string> causes = {
      "single_overflow", "scale_collapse", "nan_without_overflow", "clip_never",
      "clip_always",     "norm_scaled",    "scale_logged_after",   "schedule_on_skips"};
  return causes;
}

LogRun log_run(const std::string& cause, Random& random) {
  const int event = static_cast<int>(random.whole(60, 200));
  return run_of(cause, plan_for(cause, event, random), event, random);
}

LogRun busy_run(Random& random) {
  Plan plan;
  plan.interval = static_cast<int>(random.whole(3, 5));
  plan.first_scale = std::ldexp(1, static_cast<int>(random.whole(8, 14)));
  plan.max_norm = 0.6;
  const int first = static_cast<int>(random.whole(2, 4));
  const int second = first + static_cast<int>(random.whole(1, 2));
  plan.bad_gradient = [first, second](int i) { return i == first || i == second; };
  return run_of("", plan, first, random);
}

std::vector<std::string> shown_lines(const LogRun& run, int first, int count, bool with_lr) {
  std::vector<std::string> lines;
  for (int i = first; i < first + count && i < static_cast<int>(run.steps.size()); ++i) {
    const auto& step = run.steps[static_cast<std::size_t>(i)];
    auto line = fmt::format(
        "step {:>3}  loss {:>6}  norm {:>6}  scale {:>6}", step.step, value(step.loss, "{:.4f}"),
        value(step.norm, step.norm < 1000 ? "{:.4g}" : "{:.0f}"), shown(step.scale));
    if (with_lr) line += fmt::format("  lr {:.3e}", step.lr);
    lines.push_back(line + (step.skipped ? "  skipped" : ""));
  }
  return lines;
}

}  // namespace gradlab::drills
