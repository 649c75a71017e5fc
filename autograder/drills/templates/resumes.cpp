// Resume: what a checkpoint has to hold, by what happens without it.
#include <fmt/format.h>

#include <cmath>

#include "drills/formulas.hpp"
#include "drills/templates.hpp"
#include "drills/text.hpp"

namespace gradlab::drills::templates {
namespace {

Question skips_without_state(Random& random) {
  const auto gradient = static_cast<double>(random.whole(4, 2000));
  Scaler scaler;
  const int skips = skips_until_it_fits(gradient, scaler);
  auto q = ask_number(
      fmt::format(
          "A run has settled at scale {}; anything larger overflows. It is resumed with a new "
          "GradScaler of default options. How many steps are skipped before the first good "
          "one?",
          number(scaler.scale)),
      skips, 0, "steps");
  q.miss(0, "thinks that the scaler knows the scale already")
      .miss(skips + 1, "counts the first good step too")
      .miss(skips - 1, "stops at a scale that still overflows");
  q.hint =
      fmt::format("From {} down to {}, one halving a skip.", number(65536), number(scaler.scale));
  q.why = "That burst of skips is why the scaler's state belongs into the checkpoint.";
  return q;
}

Question growth_after_load(Random& random) {
  const auto interval = random.whole(100, 2000), tracker = random.whole(10, interval - 10);
  auto q =
      ask_number(fmt::format("growth_interval is {}, the tracker was {} when the checkpoint was "
                             "saved, and it is loaded. No step overflows. After how many more "
                             "updates does the scale grow?",
                             interval, tracker),
                 static_cast<double>(interval - tracker), 0, "updates");
  q.miss(static_cast<double>(interval), "lets the tracker begin anew")
      .miss(static_cast<double>(tracker), "gives what has passed, not what is left")
      .miss(static_cast<double>(interval - tracker + 1), "waits one update too long");
  q.hint = "How far is the tracker from the interval?";
  q.why = "The tracker goes on where it was, if it was saved.";
  return q;
}

Question position(Random& random) {
  const auto batches = random.whole(20, 200), epochs = random.whole(1, 5);
  const auto inside = random.whole(3, batches - 3), done = epochs * batches + inside;
  auto q =
      ask_number(fmt::format("An epoch has {} batches, numbered from 0. The run was cut after {} "
                             "batches in all. Which batch of its epoch comes first after the "
                             "load?",
                             batches, done),
                 static_cast<double>(inside));
  q.miss(0, "begins the epoch anew")
      .miss(static_cast<double>(inside + 1), "leaves one batch out")
      .miss(static_cast<double>(inside - 1), "repeats a batch")
      .miss(static_cast<double>(done), "counts through all epochs");
  q.hint = "How many batches of the current epoch are done?";
  q.why = fmt::format("Whole epochs done: {}. Of the next one, {} batches are: 0 to {}.", epochs,
                      inside, inside - 1);
  return q;
}

Question schedule_position(Random& random) {
  const auto steps = random.whole(50, 900), skips = random.whole(3, 12);
  auto q =
      ask_number(fmt::format("A right loop was cut after {} iterations, {} of which were skipped. "
                             "Which step count of the schedule does the checkpoint hold?",
                             steps, skips),
                 static_cast<double>(steps - skips), 0, "steps");
  q.miss(static_cast<double>(steps), "counts skipped steps too")
      .miss(static_cast<double>(steps - skips + 1), "saves the next step's number")
      .miss(0, "lets the schedule begin anew");
  q.hint = "The schedule moves with the weights.";
  q.why = "Skipped steps move neither weights nor schedule.";
  return q;
}

Question window(Random& random) {
  const auto size = random.whole(4, 16), windows = random.whole(2, 30);
  const auto gathered = random.whole(1, size - 1), done = size * windows + gathered;
  auto q = ask_number(
      fmt::format(
          "Each step gathers {} micro-batches. The run is cut after {} micro-batches in all and "
          "resumed with everything saved. How many more are gathered before the next step?",
          size, done),
      static_cast<double>(size - gathered), 0, "micro-batches");
  q.miss(static_cast<double>(size), "begins the window anew")
      .miss(static_cast<double>(gathered), "gives those that are gathered already")
      .miss(static_cast<double>(size - gathered + 1), "gathers one too many");
  q.hint = "How many of the current window are there already?";
  q.why = fmt::format(
      "{} are gathered: their gradients and their count belong into the checkpoint.", gathered);
  return q;
}

Question scale_after_resume(Random& random) {
  Scaler scaler;
  scaler.scale = std::ldexp(1, static_cast<int>(random.whole(4, 12)));
  const double saved = scaler.scale;
  scaler.update(true);
  auto q = ask_number(
      fmt::format(
          "The checkpoint holds scale {}. After the load the first step overflows. What is the "
          "scale after its update()?",
          number(saved)),
      scaler.scale);
  q.miss(32768, "begins at 65536 again")
      .miss(saved, "leaves update out")
      .miss(saved / 4, "backs off once for the load as well");
  q.hint = "Go on as if there had been no cut.";
  q.why = "A resumed scaler does what it would have done.";
  return q;
}

}  // namespace

std::vector<Template> resumes() {
  return {{"resume.skips_without_state", "resume", Kind::kNumber, skips_without_state},
          {"resume.growth_after_load", "resume", Kind::kNumber, growth_after_load},
          {"resume.position", "resume", Kind::kNumber, position},
          {"resume.schedule_position", "resume", Kind::kNumber, schedule_position},
          {"resume.window", "resume", Kind::kNumber, window},
          {"resume.scale_after", "resume", Kind::kPredict, scale_after_resume}};
}

}  // namespace gradlab::drills::templates
