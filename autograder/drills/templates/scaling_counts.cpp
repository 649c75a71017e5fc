// Loss scaling: what the growth tracker counts.
#include <fmt/format.h>

#include <cmath>

#include "drills/templates.hpp"
#include "drills/templates/scalers.hpp"
#include "drills/text.hpp"

namespace gradlab::drills::templates {
namespace {

// A run of updates in which some overflow; the scale and the tracker at its end.
struct Run {
  Scaler scaler;
  std::vector<bool> overflows;

  Scaler ended() const {
    Scaler now = scaler;
    for (const bool overflow : overflows) now.update(overflow);
    return now;
  }
  // The iteration, from 0, whose backward is the first after a growth; -1 for none.
  int first_growth() const {
    Scaler now = scaler;
    for (std::size_t i = 0; i < overflows.size(); ++i) {
      const double before = now.scale;
      now.update(overflows[i]);
      if (now.scale > before) return static_cast<int>(i) + 1;
    }
    return -1;
  }
};

// "ok, ok, overflow, ok"
std::string listed(const std::vector<bool>& overflows) {
  std::string out;
  for (const bool overflow : overflows) {
    out += (out.empty() ? "" : ", ") + std::string(overflow ? "overflow" : "ok");
  }
  return out;
}

Run one_overflow(Random& random) {
  Run run{small_scaler(random), {}};
  run.overflows.assign(static_cast<std::size_t>(random.whole(5, 8)), false);
  run.overflows[static_cast<std::size_t>(random.whole(1, 3))] = true;
  return run;
}

// What the wrong counters come to.
Scaler not_reset(const Run& run) {
  Scaler now = run.scaler;
  for (const bool overflow : run.overflows) {
    const auto kept = now.tracker;
    now.update(overflow);
    if (overflow) now.tracker = kept;
  }
  return now;
}

Scaler skip_counted(const Run& run) {
  Scaler now = run.scaler;
  for (const bool overflow : run.overflows) {
    now.update(overflow);
    if (overflow) now.tracker = 1;
  }
  return now;
}

Question scale_after(Random& random) {
  const Run run = one_overflow(random);
  const double right = run.ended().scale;
  auto q =
      ask_number(fmt::format("GradScaler: {}, tracker {}. The next updates find: {}. What is the "
                             "scale after them?",
                             options(run.scaler), number(0), listed(run.overflows)),
                 right);
  if (const double other = not_reset(run).scale; other != right) {
    q.miss(other, "goes on counting through the overflow; the tracker begins anew");
  } else if (const double counted = skip_counted(run).scale; counted != right) {
    q.miss(counted, "counts the skipped step towards growth");
  }
  if (q.misses.empty() || q.misses.front().values.front() != right / 2) {
    q.miss(right / 2, "misses a growth, or backs off once too often");
  }
  q.hint = "Count the good updates since the last overflow or growth.";
  q.why = fmt::format(
      "An overflow halves the scale and sets the tracker to 0; {} good updates in a "
      "row double it and set the tracker to 0.",
      number(static_cast<double>(run.scaler.interval)));
  return q;
}

Question tracker_after(Random& random) {
  const Run run = one_overflow(random);
  const auto right = static_cast<double>(run.ended().tracker);
  auto q =
      ask_number(fmt::format("GradScaler: {}, tracker {}. The next updates find: {}. What is the "
                             "growth tracker after them?",
                             options(run.scaler), number(0), listed(run.overflows)),
                 right);
  if (const auto other = static_cast<double>(not_reset(run).tracker); other != right) {
    q.miss(other, "goes on counting through the overflow; the tracker begins anew");
  }
  q.miss(static_cast<double>(run.overflows.size()), "counts every update, and never from 0 again");
  q.hint = "It is 0 after an overflow and after a growth.";
  q.why = "It counts good updates since the last overflow or growth.";
  return q;
}

Question growth_step(Random& random) {
  Run run{small_scaler(random), {}};
  run.overflows.assign(40, false);
  const int overflow = static_cast<int>(random.whole(1, run.scaler.interval - 1));
  run.overflows[static_cast<std::size_t>(overflow)] = true;
  const int right = run.first_growth();
  auto q = ask_number(
      fmt::format("GradScaler: {}, tracker {}. Iterations count from 0. Iteration {} overflows, no "
                  "other does. Which is the first iteration whose backward uses a grown scale?",
                  options(run.scaler), number(0), overflow),
      right, 0, "iteration");
  q.miss(right - 1, "counts the skipped step as the first good one")
      .miss(right + 1, "lets the scale grow one iteration late")
      .miss(static_cast<double>(run.scaler.interval) + 1,
            "goes on counting through the overflow; the tracker begins anew");
  q.hint = "After the overflow the tracker is 0. How many good updates does it take from there?";
  q.why = fmt::format(
      "Iterations {} to {} are good: the update of the last one doubles the scale for "
      "iteration {}.",
      overflow + 1, right - 1, right);
  return q;
}

}  // namespace

std::vector<Template> scaling_counts() {
  return {{"loss_scaling.scale_after", "loss_scaling", Kind::kNumber, scale_after},
          {"loss_scaling.tracker_after", "loss_scaling", Kind::kNumber, tracker_after},
          {"loss_scaling.growth_step", "loss_scaling", Kind::kNumber, growth_step}};
}

}  // namespace gradlab::drills::templates
