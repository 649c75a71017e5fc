// Read a log: what it says, in numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drills/log_run.hpp"
#include "drills/templates.hpp"
#include "drills/text.hpp"

namespace gradlab::drills::templates {
namespace {

constexpr int kLines = 10;

const LoggedStep& step_of(const LogRun& run, int step) {
  return run.steps[static_cast<std::size_t>(step)];
}

Question first_overflow(Random& random) {
  const auto run = log_run(random.coin() ? "single_overflow" : "scale_collapse", random);
  auto q = ask_number("In which step did gradients overflow first?", run.event, 0, "step");
  q.code = shown_lines(run, run.event - static_cast<int>(random.whole(2, 5)), kLines);
  q.miss(run.event + 1, "takes the line in which the scale is lower: that is the step after")
      .miss(run.event - 1, "takes the last good step");
  q.hint = "The scale of a line is the one that its backward used.";
  q.why = "The step whose norm is inf was skipped; the next one uses half of its scale.";
  return q;
}

Question skips_shown(Random& random) {
  const auto run = busy_run(random);
  int skips = 0, changes = 0, growth = 0;
  for (int i = 0; i < kLines; ++i) {
    skips += step_of(run, i).skipped ? 1 : 0;
    if (i > 0 && step_of(run, i).scale != step_of(run, i - 1).scale) ++changes;
    if (i > 0 && step_of(run, i).scale > step_of(run, i - 1).scale) ++growth;
  }
  auto q = ask_number("This log lacks its last column. How many of these steps were skipped?",
                      skips, 0, "steps");
  for (auto& line : q.code = shown_lines(run, 0, kLines)) {
    line = line.substr(0, line.find("  skipped"));
  }
  q.miss(changes, "counts growth as a skip: there the scale changes too")
      .miss(0, "needs a word to see a skip")
      .miss(kLines - skips, "counts the steps that were taken");
  q.hint = "A skip has a norm that is not finite, and a lower scale in the next line.";
  q.why = fmt::format("Changes of the scale: {}. Growth among them: {}.", changes, growth);
  return q;
}

Question scale_that_overflowed(Random& random) {
  const auto run = log_run("single_overflow", random);
  const double right = step_of(run, run.event).scale;
  auto q = ask_number("Which scale was too large?", right);
  q.code = shown_lines(run, run.event - 3, kLines);
  q.miss(right / 2, "takes the scale after the backoff")
      .miss(step_of(run, run.event).step, "gives the step");
  q.hint = "Which scale did the skipped step's backward use?";
  q.why = "The skipped line holds the scale that overflowed, the next line the one after backoff.";
  return q;
}

Question next_scale(Random& random) {
  const auto run = log_run("scale_collapse", random);
  const int last = run.event + static_cast<int>(random.whole(1, 5));
  const double right = step_of(run, last).scale_after;
  auto q = ask_number("Which scale will the line after these have?", right);
  q.code = shown_lines(run, last - kLines + 1, kLines);
  q.miss(right * 2, "thinks that the last skip changes nothing")
      .miss(right / 2, "halves twice")
      .miss(right * 4, "lets a skip double the scale");
  q.hint = "The last line was skipped. What does update do then?";
  q.why = "Each skip halves it once.";
  return q;
}

Question growth_interval(Random& random) {
  const auto run = busy_run(random);
  const auto right = static_cast<double>(run.scaler.interval);
  auto q = ask_number("What is the growth interval of this run's scaler?", right);
  q.code = shown_lines(run, run.event, 13);
  q.miss(right + 1, "counts the step that uses the grown scale too")
      .miss(right - 1, "leaves out the step whose update lets the scale grow");
  q.hint = "How many good steps in a row have the same scale?";
  q.why = fmt::format("{} good steps in a row, then the scale doubles.", number(right));
  return q;
}

Question true_norm(Random& random) {
  const auto run = log_run("norm_scaled", random);
  const auto& step = step_of(run, run.event + static_cast<int>(random.whole(1, 6)));
  const double right = step.norm / step.scale;
  auto q = ask_number(fmt::format("This log holds the norm of scaled gradients. What was the true "
                                  "norm at step {}?",
                                  step.step),
                      right, 0.01);
  q.code = shown_lines(run, run.event - 2, kLines);
  q.miss(step.norm, "takes the logged norm for the true one")
      .miss(step.norm * step.scale, "multiplies by the scale once more")
      .miss(right / 2, "divides by the scale before the skip");
  q.hint = "Divide by the scale that this step's backward used.";
  q.why = fmt::format("{} / {}.", fmt::format("{:.4g}", step.norm), number(step.scale));
  return q;
}

// A run with no norm so near to the limit that the log's digits do not tell which side it is on.
LogRun clearly_clipped(Random& random) {
  for (;;) {
    auto run = busy_run(random);
    const bool near =
        std::any_of(run.steps.begin(), run.steps.begin() + kLines,
                    [&](const auto& s) { return std::abs(s.norm - run.max_norm) < 0.002; });
    if (!near) return run;
  }
}

Question clipped_count(Random& random) {
  const auto run = clearly_clipped(random);
  int clipped = 0, below = 0, skipped = 0;
  for (int i = 0; i < kLines; ++i) {
    const auto& step = step_of(run, i);
    skipped += step.skipped ? 1 : 0;
    clipped += !step.skipped && step.norm > run.max_norm ? 1 : 0;
    below += !step.skipped && step.norm < run.max_norm ? 1 : 0;
  }
  auto q = ask_number(fmt::format("The norms are those before clipping, max_norm is {}. How many "
                                  "steps changed the weights with clipped gradients?",
                                  number(run.max_norm)),
                      clipped, 0, "steps");
  q.code = shown_lines(run, 0, kLines);
  q.miss(clipped + skipped, "counts skipped steps, which change nothing")
      .miss(below, "counts the steps below the limit");
  q.hint = "A norm above the limit, and no skip.";
  q.why = "A skipped step has an infinite norm, but its gradients are thrown away.";
  return q;
}

}  // namespace

std::vector<Template> logs() {
  return {{"event_log.first_overflow", "event_log", Kind::kLog, first_overflow},
          {"event_log.skips_shown", "event_log", Kind::kLog, skips_shown},
          {"event_log.scale_that_overflowed", "event_log", Kind::kLog, scale_that_overflowed},
          {"event_log.next_scale", "event_log", Kind::kLog, next_scale},
          {"event_log.growth_interval", "event_log", Kind::kLog, growth_interval},
          {"event_log.true_norm", "event_log", Kind::kLog, true_norm},
          {"event_log.clipped_count", "event_log", Kind::kLog, clipped_count}};
}

}  // namespace gradlab::drills::templates
