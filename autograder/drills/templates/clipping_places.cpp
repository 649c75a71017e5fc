// Clipping: where it stands in a step, and what it cannot do.
#include <fmt/format.h>

#include <cmath>

#include "drills/formulas.hpp"
#include "drills/templates.hpp"
#include "drills/text.hpp"

namespace gradlab::drills::templates {
namespace {

constexpr double kWithin = 0.005;

double power_of_two(Random& random, int least, int most) {
  return std::ldexp(1, static_cast<int>(random.whole(least, most)));
}

Question before_unscale(Random& random) {
  const double scale = power_of_two(random, 8, 16);
  const auto norm = static_cast<double>(random.whole(2, 9));
  auto q = ask_number(
      fmt::format(
          "The true gradients have norm {}, the scale is {}, max_norm is {}. Somebody clips "
          "first and calls unscale_ after. Which norm does the optimizer get?",
          number(norm), number(scale), number(1)),
      norm * scale * clip_factor(norm * scale, 1) / scale, kWithin);
  q.miss(1, "answers for the right order, unscale_ before clipping")
      .miss(norm, "does not clip")
      .miss(norm / scale, "unscales twice")
      .miss(norm * scale, "forgets that unscale_ still runs");
  q.hint =
      "The clip sees gradients that are multiplied by the scale; unscale_ divides what is left.";
  q.why = fmt::format("Clipping makes the scaled norm 1, and unscale_ divides that by {}.",
                      number(scale));
  q.read = "handouts/step_order.md";
  return q;
}

Question limit_of_scaled(Random& random) {
  const double scale = power_of_two(random, 6, 16);
  const auto limit = static_cast<double>(random.whole(2, 5));
  auto q = ask_number(
      fmt::format(
          "Without unscale_ one can clip the scaled gradients, if the limit is changed. The "
          "scale is {} and max_norm should mean {}. Which limit does the same?",
          number(scale), number(limit)),
      limit * scale);
  q.miss(limit, "compares scaled gradients with a limit for true ones")
      .miss(limit / scale, "divides where it has to multiply");
  q.hint = "By how much are the gradients too large?";
  q.why = "Scaled gradients are larger by the scale, so their limit is too.";
  return q;
}

Question warm_up(Random& random) {
  const auto steps = random.whole(5, 400);
  auto q =
      ask_number(fmt::format("clip_after_warmup clips once warm-up is over, and warm-up has {} "
                             "steps. Steps count from 0. Which is the first that is clipped?",
                             steps),
                 static_cast<double>(steps), 0, "step");
  q.miss(static_cast<double>(steps + 1), "compares with > where >= is meant")
      .miss(static_cast<double>(steps - 1), "counts the steps from 1");
  q.hint = "Steps 0, 1, … are warm-up. How many of them are there?";
  q.why = fmt::format("Steps 0 to {} are warm-up; from step {} on gradients are clipped.",
                      steps - 1, steps);
  return q;
}

Question micro_batches(Random& random) {
  const auto a = static_cast<double>(random.whole(2, 6));
  const auto b = static_cast<double>(random.whole(2, 6));
  const double each = a * clip_factor(a, 1);
  auto q = ask_number(
      fmt::format("Two micro-batches add the gradients {} and {} to one window; max_norm is {} and "
                  "the losses are not divided. Clipping comes once, at the window's end. What is "
                  "the first element then?",
                  vector_text({a, 0}), vector_text({0, b}), number(1)),
      a * clip_factor(norm_of({a, b}), 1), kWithin);
  q.miss(each * clip_factor(norm_of({each, b}), 1), "clips after each micro-batch")
      .miss(each, "clips each micro-batch on its own")
      .miss(a, "does not clip");
  q.hint = "Add first, then clip the sum.";
  q.why = fmt::format("The sum is {}, its norm {}.", vector_text({a, b}), number(norm_of({a, b})));
  q.read = "handouts/step_order.md";
  return q;
}

Question one_bad_element(Random& random) {
  const auto count = static_cast<double>(random.whole(3, 900));
  const bool nan = random.coin();
  auto q = ask_number(
      fmt::format("{} gradient elements, one of them {}, the others finite. clip_grad_norm_ runs "
                  "without any check. How many elements are NaN after it?",
                  number(count), nan ? "NaN" : "inf"),
      nan ? count : 1);
  q.miss(nan ? 1 : count, nan ? "thinks that NaN stays where it is; the norm is NaN and spreads it"
                              : "mixes it up with NaN: a norm of inf makes the factor 0")
      .miss(0, "trusts clipping to clean what is not finite");
  q.hint = "What is the total norm, what the factor, and what is the product with each element?";
  q.why = nan ? "The norm is NaN, so is the factor, and so is every product."
              : "The norm is inf and the factor 0: inf times 0 is NaN, all others become 0.";
  return q;
}

Question zero_limit(Random& random) {
  const auto norm = static_cast<double>(random.whole(2, 50));
  auto q = ask_number(fmt::format("The total norm is {} and somebody sets max_norm to 0 to switch "
                                  "clipping off. What is the total norm after clip_grad_norm_?",
                                  number(norm)),
                      norm * clip_factor(norm, 0));
  q.miss(norm, "takes 0 for a switch").miss(1, "takes 0 for a default of 1");
  q.hint = "Put 0 into the formula.";
  q.why = "The factor is 0, so every gradient becomes 0 and nothing is learned.";
  return q;
}

Question tied(Random& random) {
  const auto norm = static_cast<double>(random.whole(2, 12));
  auto q = ask_number(
      fmt::format("One tensor with a gradient of norm {} stands twice in the list of parameters. "
                  "What does total_norm give?",
                  number(norm)),
      norm_of({norm, norm}), kWithin);
  q.miss(norm, "thinks that doubles are found and dropped")
      .miss(2 * norm, "adds the norms of the tensors");
  q.hint = "The list is read as it is.";
  q.why =
      fmt::format("It counts twice: the root of 2 times {}. Keep tied weights once in the list.",
                  number(norm * norm));
  return q;
}

}  // namespace

std::vector<Template> clipping_places() {
  return {{"clipping.before_unscale", "clipping", Kind::kNumber, before_unscale},
          {"clipping.limit_of_scaled", "clipping", Kind::kNumber, limit_of_scaled},
          {"clipping.warm_up", "clipping", Kind::kNumber, warm_up},
          {"clipping.micro_batches", "clipping", Kind::kNumber, micro_batches},
          {"clipping.one_bad_element", "clipping", Kind::kNumber, one_bad_element},
          {"clipping.zero_limit", "clipping", Kind::kNumber, zero_limit},
          {"clipping.tied_parameter", "clipping", Kind::kNumber, tied}};
}

}  // namespace gradlab::drills::templates
