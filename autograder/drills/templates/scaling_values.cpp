// Loss scaling: what the scale does to a gradient.
#include <fmt/format.h>

#include <cmath>

#include "drills/formulas.hpp"
#include "drills/templates.hpp"
#include "drills/text.hpp"

namespace gradlab::drills::templates {
namespace {

constexpr double kWithin = 0.005;
constexpr double kSmallestNormal = 6.103515625e-5;

double power_of_two(Random& random, int least, int most) {
  return std::ldexp(1, static_cast<int>(random.whole(least, most)));
}

Question in_the_grad(Random& random) {
  const double scale = power_of_two(random, 5, 16);
  const double gradient = static_cast<double>(random.whole(2, 9)) / 8;
  auto q = ask_number(fmt::format("The true gradient of a weight is {} and the scale is {}. What "
                                  "stands in its grad after scaler.scale(loss).backward()?",
                                  number(gradient), number(scale)),
                      gradient * scale, kWithin);
  q.miss(gradient, "thinks that backward unscales")
      .miss(gradient / scale, "divides by the scale")
      .miss(gradient * scale * scale, "scales twice");
  q.hint = "The gradient is linear in the loss.";
  q.why = "A loss that is scaled has gradients that are scaled by the same factor.";
  return q;
}

Question unscaled_twice(Random& random) {
  const double scale = power_of_two(random, 3, 8);
  const auto gradient = static_cast<double>(random.whole(2, 9));
  auto q = ask_number(
      fmt::format(
          "The true gradient is {}, the scale {}. A loop divides the gradients by get_scale() "
          "and then calls unscale_ too. Which gradient does the optimizer get?",
          number(gradient), number(scale)),
      gradient / scale, kWithin);
  q.miss(gradient, "thinks that the second division does nothing")
      .miss(gradient * scale, "thinks that neither has run")
      .miss(gradient / (scale * scale), "forgets that backward had multiplied by the scale");
  q.hint = "Multiplied once, divided how often?";
  q.why = "Multiplied by the scale once and divided twice: too small by the scale, and no error.";
  return q;
}

Question loss_not_scaled(Random& random) {
  const double scale = power_of_two(random, 6, 16);
  const auto lr = static_cast<double>(random.whole(1, 4)) / 8;
  const auto gradient = static_cast<double>(random.whole(2, 9));
  auto q = ask_number(
      fmt::format("A loop calls loss.backward() without scaler.scale, then scaler.step(optimizer), "
                  "scale {}. The true gradient is {}, SGD's learning rate {}. By how much does the "
                  "weight change, sign left out?",
                  number(scale), number(gradient), number(lr)),
      lr * gradient / scale, kWithin);
  q.miss(lr * gradient, "forgets that step unscales what was never scaled")
      .miss(lr * gradient * scale, "multiplies where step divides")
      .miss(gradient / scale, "forgets the learning rate");
  q.hint = "step unscales where unscale_ was not called.";
  q.why = fmt::format("step divides by {} what nobody multiplied: training all but stands still.",
                      number(scale));
  return q;
}

Question optimizer_itself(Random& random) {
  const double scale = power_of_two(random, 6, 12);
  const auto lr = static_cast<double>(random.whole(1, 4)) / 8;
  const auto gradient = static_cast<double>(random.whole(2, 9));
  auto q = ask_number(
      fmt::format("scaler.scale(loss).backward(), then optimizer.step() instead of "
                  "scaler.step(optimizer); no unscale_. Scale {}, true gradient {}, SGD's learning "
                  "rate {}. By how much does the weight change, sign left out?",
                  number(scale), number(gradient), number(lr)),
      lr * gradient * scale, kWithin);
  q.miss(lr * gradient, "trusts the optimizer to know of the scale")
      .miss(lr * gradient / scale, "divides where nothing does")
      .miss(gradient * scale, "forgets the learning rate");
  q.hint = "The optimizer knows nothing of a scale.";
  q.why = "The step is too long by the scale, and nothing skips on inf.";
  return q;
}

Question largest(Random& random) {
  const auto gradient = static_cast<double>(random.whole(3, 900));
  const double scale = largest_scale(gradient);
  auto q =
      ask_number(fmt::format("The largest gradient of a float16 backward is {}. float16 ends at "
                             "{}. Which is the largest power of two that the scale may be "
                             "without an overflow?",
                             number(gradient), number(kLargestHalf)),
                 scale);
  q.miss(scale * 2, "goes one step too far: that overflows")
      .miss(scale / 2, "stops one step early")
      .miss(65536, "takes the scaler's first scale for always safe");
  q.hint = fmt::format("{} divided by {}, then down to a power of two.", number(kLargestHalf),
                       number(gradient));
  q.why = fmt::format("{} times {} is {}; twice that is beyond {}.", number(gradient),
                      number(scale), number(gradient * scale), number(kLargestHalf));
  return q;
}

Question first_that_fits(Random& random) {
  const auto gradient = static_cast<double>(random.whole(2, 2000));
  Scaler scaler;
  const int skips = skips_until_it_fits(gradient, scaler);
  auto q = ask_number(
      fmt::format(
          "A run begins with GradScaler's defaults (scale {}). The largest gradient is {} at "
          "every step, in float16. Steps count from 0. Which step is the first that is "
          "applied?",
          number(65536), number(gradient)),
      skips, 0, "step");
  q.miss(skips + 1, "counts the steps from 1")
      .miss(skips - 1, "stops at a scale that still overflows");
  q.hint = "Each skip halves the scale. How many halvings until the product is at most 65504?";
  q.why = fmt::format("Steps 0 to {} are skipped; step {} has scale {}.", skips - 1, skips,
                      number(scaler.scale));
  return q;
}

Question scale_that_fits(Random& random) {
  const auto gradient = static_cast<double>(random.whole(2, 3000));
  Scaler scaler;
  skips_until_it_fits(gradient, scaler);
  auto q = ask_number(
      fmt::format("The same largest gradient, {}, at every step of a float16 run with GradScaler's "
                  "defaults. At which scale does the run settle after its first skips?",
                  number(gradient)),
      scaler.scale);
  q.miss(scaler.scale * 2, "gives the last scale that overflowed")
      .miss(scaler.scale / 2, "backs off once more than needed")
      .miss(65536, "thinks that the scale stays where it began");
  q.hint = fmt::format("Halve {} until the product with {} is at most 65504.", number(65536),
                       number(gradient));
  q.why = fmt::format("{} times {} is {}, which float16 can hold.", number(gradient),
                      number(scaler.scale), number(gradient * scaler.scale));
  return q;
}

Question smallest(Random& random) {
  const double gradient = static_cast<double>(random.whole(1, 9)) * 1e-9;
  const double scale = smallest_scale(gradient);
  double normal = 1;
  while (gradient * normal < kSmallestNormal) normal *= 2;
  auto q = ask_number(
      fmt::format("A gradient of {} would be 0 in float16, whose smallest positive number is {} "
                  "(half of that still rounds up to it). Which is the smallest power of two that "
                  "saves it?",
                  number(gradient), number(std::ldexp(1, -24))),
      scale);
  q.miss(normal, "takes the smallest normal number for the smallest")
      .miss(scale * 2, "forgets that float16 rounds to the nearest number")
      .miss(1, "thinks that float16 holds it as it is");
  q.hint = fmt::format("The product has to be above {}.", number(std::ldexp(1, -25)));
  q.why = fmt::format("{} times {} is {}: float16 rounds that to {}.", number(gradient),
                      number(scale), number(gradient * scale), number(as_half(gradient * scale)));
  return q;
}

}  // namespace

std::vector<Template> scaling_values() {
  return {{"loss_scaling.in_the_grad", "loss_scaling", Kind::kNumber, in_the_grad},
          {"loss_scaling.unscaled_twice", "loss_scaling", Kind::kNumber, unscaled_twice},
          {"loss_scaling.loss_not_scaled", "loss_scaling", Kind::kNumber, loss_not_scaled},
          {"loss_scaling.optimizer_itself", "loss_scaling", Kind::kNumber, optimizer_itself},
          {"loss_scaling.largest_scale", "loss_scaling", Kind::kNumber, largest},
          {"loss_scaling.first_that_fits", "loss_scaling", Kind::kNumber, first_that_fits},
          {"loss_scaling.scale_that_fits", "loss_scaling", Kind::kNumber, scale_that_fits},
          {"loss_scaling.smallest_scale", "loss_scaling", Kind::kNumber, smallest}};
}

}  // namespace gradlab::drills::templates
