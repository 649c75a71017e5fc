// Clipping: the norm and the factor.
#include <fmt/format.h>

#include <cmath>

#include "drills/formulas.hpp"
#include "drills/templates.hpp"
#include "drills/text.hpp"

namespace gradlab::drills::templates {
namespace {

constexpr double kWithin = 0.005;

// Whole-number vectors with a whole norm, so that a head is enough.
std::vector<double> whole_vector(Random& random) {
  static const std::vector<std::vector<double>> known = {
      {3, 4}, {6, 8}, {5, 12}, {8, 15}, {1, 2, 2}, {2, 3, 6}, {2, 4, 4}, {4, 4, 7}, {1, 4, 8}};
  auto vector = random.pick(known);
  random.shuffle(vector);
  return vector;
}

std::string factor_formula() {
  return maths("max_norm / (norm + 1e-6)", "\\frac{M}{\\lVert g\\rVert+10^{-6}}");
}

Question factor(Random& random) {
  const auto norm = static_cast<double>(random.whole(3, 40));
  const auto limit = static_cast<double>(random.whole(1, 2));
  auto q = ask_number(fmt::format("The norm of all gradients together is {} and max_norm is {}. By "
                                  "which factor does clipping multiply every gradient?",
                                  number(norm), number(limit)),
                      clip_factor(norm, limit), kWithin);
  q.miss(norm / limit, "turns the fraction round")
      .miss(1, "leaves a large norm alone")
      .miss(limit / (norm * norm), "forgets the root of the norm")
      .miss(limit / (norm + limit), "adds the limit to the norm");
  q.hint = "After the multiplication the norm should be just under max_norm.";
  q.why = fmt::format("The factor is {}, here {} / {}. The direction stays.", factor_formula(),
                      number(limit), number(norm));
  return q;
}

Question small_norm(Random& random) {
  const double norm = static_cast<double>(random.whole(2, 8)) / 10;
  const auto limit = static_cast<double>(random.whole(1, 3));
  auto q = ask_number(fmt::format("All gradients together have norm {}; max_norm is {}. By which "
                                  "factor does clipping multiply them?",
                                  number(norm), number(limit)),
                      clip_factor(norm, limit), kWithin);
  q.miss(limit / (norm + kEps), "leaves the factor unclamped, so small gradients grow")
      .miss(norm / limit, "turns the fraction round")
      .miss(0, "thinks that gradients below the limit are dropped");
  q.hint = "Is the norm above the limit?";
  q.why = "Below the limit nothing changes: the factor is never above 1.";
  return q;
}

Question norm_after(Random& random) {
  const auto norm = static_cast<double>(random.whole(3, 60));
  const double limit = static_cast<double>(random.whole(2, 20)) / 10;
  auto q = ask_number(fmt::format("The total norm is {} and max_norm is {}. What is the total norm "
                                  "after clipping?",
                                  number(norm), number(limit)),
                      norm * clip_factor(norm, limit), kWithin);
  q.miss(norm, "takes the returned norm, which is the one before clipping, for the one after")
      .miss(clip_factor(norm, limit), "gives the factor instead of the norm")
      .miss(norm - limit, "subtracts the limit");
  q.hint = "Multiply the norm by the factor.";
  q.why = fmt::format("It sits just under the limit: {} times {}.", number(norm), factor_formula());
  return q;
}

Question returned_norm(Random& random) {
  const auto gradient = whole_vector(random);
  const double norm = norm_of(gradient), limit = static_cast<double>(random.whole(1, 2));
  auto q = ask_number(fmt::format("One gradient {}, max_norm {}. Which number does clip_grad_norm_ "
                                  "return?",
                                  vector_text(gradient), number(limit)),
                      norm, kWithin);
  q.miss(norm * clip_factor(norm, limit), "returns the norm after clipping")
      .miss(clip_factor(norm, limit), "returns the factor")
      .miss(norm * norm, "forgets the root");
  q.hint = "A log that never shows a norm above max_norm hides every explosion.";
  q.why = "It returns the norm before clipping. That is the one to log.";
  return q;
}

Question global_norm(Random& random) {
  const auto a = whole_vector(random), b = whole_vector(random);
  auto all = a;
  all.insert(all.end(), b.begin(), b.end());
  auto q = ask_number(fmt::format("Two parameters have the gradients {} and {}. What is the total "
                                  "norm?",
                                  vector_text(a), vector_text(b)),
                      norm_of(all), kWithin);
  q.miss(norm_of(a) + norm_of(b), "adds the norms of the tensors")
      .miss(std::max(norm_of(a), norm_of(b)), "takes the largest tensor's norm")
      .miss((norm_of(a) + norm_of(b)) / 2, "takes the mean of the norms")
      .miss(norm_of(all) * norm_of(all), "forgets the root");
  q.hint = "All gradients count as one long vector.";
  q.why = fmt::format("It is the root of {} + {}.", number(norm_of(a) * norm_of(a)),
                      number(norm_of(b) * norm_of(b)));
  return q;
}

Question element_after(Random& random) {
  const auto a = static_cast<double>(random.whole(2, 9));
  const auto b = static_cast<double>(random.whole(2, 9));
  const auto limit = static_cast<double>(random.whole(1, 2));
  const double norm = norm_of({a, b});
  auto q = ask_number(
      fmt::format("Two parameters have the gradients {} and {}; max_norm is {}. What is the first "
                  "element of the first gradient after clipping?",
                  vector_text({a, 0}), vector_text({0, b}), number(limit)),
      a * clip_factor(norm, limit), kWithin);
  q.miss(a * clip_factor(a, limit), "clips each tensor on its own")
      .miss(a, "does not clip")
      .miss(a * clip_factor(a + b, limit), "adds the norms of the tensors")
      .miss(a * limit / (norm * norm), "forgets the root of the norm")
      .miss(clip_factor(norm, limit), "gives the factor, not the element");
  q.hint = "One norm for both tensors, then one factor for both.";
  q.why = fmt::format("The total norm is {}, so everything is multiplied by {}.", number(norm),
                      number(clip_factor(norm, limit)));
  return q;
}

Question value_or_norm(Random& random) {
  const auto gradient = whole_vector(random);
  auto q = ask_number(fmt::format("One gradient {}, max_norm {}. What is its last element after "
                                  "clip_grad_norm_?",
                                  vector_text(gradient), number(1)),
                      gradient.back() * clip_factor(norm_of(gradient), 1), kWithin);
  double sum = 0;
  for (const double g : gradient) sum += g;
  q.miss(1, "clamps each element, which is clip_grad_value_")
      .miss(gradient.back() / sum, "takes the sum of the elements for the norm")
      .miss(gradient.back(), "does not clip");
  q.hint = "Which of the two clips keeps the direction?";
  q.why = fmt::format("Norm {}: every element is divided by it. Clamping would turn the direction.",
                      number(norm_of(gradient)));
  return q;
}

Question tiny_limit(Random& random) {
  const double unit = static_cast<double>(random.whole(1, 9)) * 1e-7;
  const double limit = 1e-7;
  const double norm = norm_of({3 * unit, 4 * unit});
  auto q = ask_number(fmt::format("One gradient {}, max_norm {}. What is its first element after "
                                  "clip_grad_norm_?",
                                  vector_text({3 * unit, 4 * unit}), number(limit)),
                      3 * unit * clip_factor(norm, limit), kWithin);
  q.miss(3 * unit * limit / norm, "leaves out the eps, which counts beside so small a norm")
      .miss(3 * unit, "does not clip");
  q.hint = fmt::format("Compare the norm with {}.", number(kEps));
  q.why = fmt::format("{}: beside a norm of {} the eps counts.", factor_formula(), number(norm));
  return q;
}

}  // namespace

std::vector<Template> clipping_norms() {
  return {{"clipping.factor", "clipping", Kind::kNumber, factor},
          {"clipping.small_norm", "clipping", Kind::kNumber, small_norm},
          {"clipping.norm_after", "clipping", Kind::kNumber, norm_after},
          {"clipping.returned_norm", "clipping", Kind::kNumber, returned_norm},
          {"clipping.global_norm", "clipping", Kind::kNumber, global_norm},
          {"clipping.element_after", "clipping", Kind::kNumber, element_after},
          {"clipping.value_or_norm", "clipping", Kind::kNumber, value_or_norm},
          {"clipping.tiny_limit", "clipping", Kind::kNumber, tiny_limit}};
}

}  // namespace gradlab::drills::templates
