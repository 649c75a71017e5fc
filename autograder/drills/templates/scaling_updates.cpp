// Loss scaling: how far the scale moves.
#include <fmt/format.h>

#include <cmath>

#include "drills/templates.hpp"
#include "drills/templates/scalers.hpp"
#include "drills/text.hpp"

namespace gradlab::drills::templates {
namespace {

Question after_skips(Random& random) {
  Scaler scaler;
  const auto skips = random.whole(2, 9);
  for (std::int64_t i = 0; i < skips; ++i) scaler.update(true);
  auto q = ask_number(fmt::format("A run begins with scale {} and backoff factor {}. Its first {} "
                                  "steps overflow. What is the scale then?",
                                  number(65536), number(0.5), skips),
                      scaler.scale);
  q.miss(scaler.scale * 2, "forgets one of the updates")
      .miss(scaler.scale / 2, "backs off once too often")
      .miss(65536 / static_cast<double>(skips) / 2, "divides by the number of skips")
      .miss(65536, "thinks that a skipped step needs no update");
  q.hint = "Half for each.";
  q.why = fmt::format("{} halved {} times.", number(65536), skips);
  return q;
}

Question two_optimizers(Random& random) {
  Scaler scaler = small_scaler(random);
  const double before = scaler.scale;
  scaler.update(true);
  auto q =
      ask_number(fmt::format("Two optimizers share a GradScaler ({}). In one iteration both find "
                             "inf and skip; update is called once, after both. What is the scale "
                             "then?",
                             options({before, 2, 0.5, scaler.interval, 0})),
                 scaler.scale);
  q.miss(scaler.scale / 2, "backs off once for each optimizer")
      .miss(before, "thinks that two overflows leave the scale alone");
  q.hint = "update looks at all optimizers together.";
  q.why = "One update is at most one backoff, however many optimizers overflowed.";
  q.read = "handouts/step_order.md";
  return q;
}

Question skips_below_one(Random& random) {
  Scaler scaler;
  scaler.scale = std::ldexp(1, static_cast<int>(random.whole(3, 16)));
  const double first = scaler.scale;
  int skips = 0;
  for (; scaler.scale >= 1; ++skips) scaler.update(true);
  auto q =
      ask_number(fmt::format("Every step overflows. The scale begins at {} and GradScaler has no "
                             "floor. How many skips until the scale is below 1?",
                             number(first)),
                 skips, 0, "skips");
  q.miss(skips - 1, "stops at exactly 1, which is not below it")
      .miss(skips + 1, "counts one skip too many");
  q.hint = "How often can it be halved until it is 1, and once more?";
  q.why = fmt::format(
      "{} halvings make it 1, one more makes it {}. A scale that keeps falling says "
      "that the gradients are at fault, not the scale.",
      skips - 1, number(scaler.scale));
  return q;
}

Question clean_growth(Random& random) {
  Scaler scaler = small_scaler(random);
  const double before = scaler.scale;
  const auto updates = random.whole(2, 4) * scaler.interval + random.whole(0, scaler.interval - 1);
  for (std::int64_t i = 0; i < updates; ++i) scaler.update(false);
  auto q =
      ask_number(fmt::format("GradScaler: {}, tracker {}. {} updates in a row find nothing. What "
                             "is the scale after them?",
                             options({before, 2, 0.5, scaler.interval, 0}), number(0), updates),
                 scaler.scale);
  q.miss(before * std::ldexp(1, static_cast<int>(updates)), "grows at every update")
      .miss(before * 2, "grows once and never again")
      .miss(before, "thinks that the scale only falls");
  q.hint = "How many whole intervals are in it?";
  q.why = fmt::format("{} / {} holds {} whole intervals, and each doubles the scale.", updates,
                      scaler.interval, updates / scaler.interval);
  return q;
}

}  // namespace

std::vector<Template> scaling_updates() {
  return {{"loss_scaling.after_skips", "loss_scaling", Kind::kNumber, after_skips},
          {"loss_scaling.two_optimizers", "loss_scaling", Kind::kNumber, two_optimizers},
          {"loss_scaling.skips_below_one", "loss_scaling", Kind::kNumber, skips_below_one},
          {"loss_scaling.clean_growth", "loss_scaling", Kind::kNumber, clean_growth}};
}

}  // namespace gradlab::drills::templates
