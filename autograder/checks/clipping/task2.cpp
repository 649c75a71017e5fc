// clipping.2: clip in place, the norm before clipping comes back.
#include <cmath>

#include "lists.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::clipping_checks;

constexpr auto kDouble = torch::kFloat64;

// CS336, assignment 1, test_gradient_clipping: the sixth parameter is frozen, without a gradient.
Case cs336_case(Random& random) {
  Gradients gradients(5, torch::ones({5, 5}));
  gradients.push_back(none());
  return clip_case(random, gradients, 1e-2, {5});
}

TEST_F(Clipping, task2_large_norm_is_scaled_as_one_vector) {
  std::vector<Case> cases{
      clip_case(random(), {row({-3, 4})}, 1),
      clip_case(random(), {row({3, 0}), row({0, -4})}, 1),
      clip_case(random(), {row({1, 2, 2, 4}).view({2, 2})}, 1),  // appendix D.3
      cs336_case(random()),
  };
  Gradients rest(5, torch::full({5, 5}, 1e-2 / std::sqrt(125.0)));
  rest.push_back(none());
  const std::vector<Gradients> worked{
      {row({-0.6, 0.8})},
      {row({0.6, 0}), row({0, -0.8})},
      {row({0.2, 0.4, 0.4, 0.8}).view({2, 2})},
      rest,
  };
  for (int i = 0; i < 12; ++i) cases.push_back(draw_large(random(), i));
  const auto got = subject().observe("clip_once", cases);
  const auto want = reference().observe("clip_once", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    const auto& expected = i < worked.size() ? worked[i] : run.want.tensors("gradients");
    EXPECT_THAT(run.got, Tensors("gradients", CloseTo(expected, clip_tolerance(run.in))));
    ++i;
  }
}

TEST_F(Clipping, task2_norm_before_clipping_is_returned) {
  std::vector<Case> cases{
      clip_case(random(), {row({3, -4})}, 1),
      clip_case(random(), {row({0.3, -0.4})}, 2),
      clip_case(random(), {row({6e-3}), row({8e-3})}, 0.02),
  };
  for (int i = 0; i < 3; ++i) {
    cases.push_back(draw_large(random(), i));
    cases.push_back(draw_small(random(), i));
  }
  const auto got = subject().observe("clip_once", cases);
  const auto want = reference().observe("clip_once", cases);
  for (const auto& run : together(cases, got, want)) {
    const double norm = run.want.number("norm");
    EXPECT_THAT(run.got, Number("norm", Near(norm, norm * norm_tolerance(run.in.gradients()))));
  }
}

TEST_F(Clipping, task2_small_norm_is_left_alone) {
  std::vector<Case> cases{
      clip_case(random(), {row({0.3})}, 1),
      clip_case(random(), {row({0.3, -0.4})}, 1),
      clip_case(random(), {row({3, -4})}, 10),
      clip_case(random(), {row({0, 0}), scalar(0)}, 1),
      clip_case(random(), {row({0, 0, 0}, kDouble)}, 0.01),
      clip_case(random(), {row({3e-8}), row({-4e-8})}, 0.01),
      clip_case(random(), {row({5.9e-3}), row({-7.9e-3})}, 0.01),  // norm 0.00986
  };
  for (int i = 0; i < 12; ++i) cases.push_back(draw_small(random(), i));
  const auto got = subject().observe("clip_once", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Tensors("gradients", BitEqualTo(run.in.gradients(), "unchanged")));
  }
}

// Where the norm is not much more than epsilon, or the limit is 0, only the formula is right.
TEST_F(Clipping, task2_tiny_limits_follow_the_formula) {
  std::vector<Case> cases{
      clip_case(random(), {row({3e-7, -4e-7})}, 1e-7),           // 1e-7 / 1.5e-6
      clip_case(random(), {row({6e-6, -8e-6}, kDouble)}, 5e-6),  // 5e-6 / 1.1e-5
      clip_case(random(), {row({3, -4})}, 0),
      clip_case(random(), {row({0, 0})}, 0),
  };
  const std::vector<Gradients> worked{
      {row({2e-8, -4e-8 / 1.5})},
      {row({3e-5 / 11, -4e-5 / 11}, kDouble)},
      {row({0, 0})},
      {row({0, 0})},
  };
  for (int i = 0; i < 8; ++i) {
    const double norm = std::pow(10, random().uniform(-7, -5.3));
    const double max_norm = i % 4 == 3 ? 0 : norm * random().uniform(0.05, 0.9);
    auto gradients = draw_gradients(random(), 1 + i, types_of(i));
    cases.push_back(clip_case(random(), brought_to(std::move(gradients), norm), max_norm));
  }
  const auto got = subject().observe("clip_once", cases);
  const auto want = reference().observe("clip_once", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    const auto& expected = i < worked.size() ? worked[i] : run.want.tensors("gradients");
    EXPECT_THAT(run.got, Tensors("gradients", CloseTo(expected, clip_tolerance(run.in))));
    ++i;
  }
}

TEST_F(Clipping, task2_float64_stays_double) {
  // Norms so large that epsilon is out of sight: what shows is a cast to float.
  const auto cases = draw(8, [](Random& draws, int i) {
    auto gradients = draw_gradients(draws, 1 + i, Types::kFloat64);
    gradients.push_back(draws.tensor({4}, kDouble));
    const double norm = std::pow(10, draws.uniform(5, 7));
    return clip_case(draws, brought_to(std::move(gradients), norm),
                     norm * draws.uniform(1e-4, 0.5));
  });
  const auto got = subject().observe("clip_once", cases);
  const auto want = reference().observe("clip_once", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Tensors("gradients", CloseTo(run.want.tensors("gradients"),
                                                      {.absolute = 0, .relative = 1e-10})));
  }
}

TEST_F(Clipping, task2_every_gradient_is_clipped_in_place) {
  std::vector<Case> cases{
      clip_case(random(), {row({3, -4})}, 1),
      clip_case(random(), {none(), row({6}), none(), row({-8})}, 1, {2}),
      clip_case(random(), {row({3, 4}), row({-12})}, 1, {1}),  // frozen, with an old gradient
      clip_case(random(), {brought_to({draw_transposed(random(), torch::kFloat32)}, 5)}, 1),
      clip_case(random(), {brought_to({draw_strided(random(), torch::kFloat32)}, 5)}, 1),
  };
  for (int i = 0; i < 5; ++i) {
    auto gradients = draw_gradients(random(), 2 + i, types_of(i));
    gradients.push_back(none());
    gradients.push_back(draw_strided(random(), kDouble));
    gradients.push_back(draw_transposed(random(), torch::kFloat32));
    const double norm = random().uniform(2, 100);
    const auto frozen = static_cast<size_t>(random().integer(0, 4 + i));
    cases.push_back(clip_case(random(), brought_to(std::move(gradients), norm), 1, {frozen}));
  }
  const auto got = subject().observe("clip_once", cases);
  const auto want = reference().observe("clip_once", cases);
  for (const auto& run : together(cases, got, want)) {
    const auto rule = CloseTo(run.want.tensors("gradients"), clip_tolerance(run.in));
    EXPECT_THAT(run.got, Tensors("gradients", rule));
    EXPECT_THAT(run.got, Tensors("aliases", rule));
    EXPECT_THAT(run.got, Tensors("parameters", BitEqualTo(run.in.parameter_values(), "unchanged")));
  }
}

TEST_F(Clipping, task2_a_second_call_stays_at_the_limit) {
  std::vector<Case> cases{
      clip_case(random(), {row({-3, 4})}, 1),
      clip_case(random(), {row({3, 0}), row({0, -4})}, 1),
  };
  for (int i = 0; i < 6; ++i) {
    auto gradients = draw_gradients(random(), 1 + 2 * i, types_of(i));
    const double max_norm = std::pow(10, random().uniform(0, 2));
    const double norm = max_norm * random().uniform(1.5, 100);
    cases.push_back(clip_case(random(), brought_to(std::move(gradients), norm), max_norm));
  }
  const auto got = subject().observe("clip_twice", cases);
  const auto want = reference().observe("clip_twice", cases);
  for (const auto& run : together(cases, got, want)) {
    // At the limit both rules count: the second call leaves alone, or shrinks by 1e-6 / max_norm.
    const double max_norm = run.in.number("max_norm");
    const double relative = 2 * clip_tolerance(run.in).relative + 1e-6 / max_norm;
    EXPECT_THAT(run.got, Tensors("gradients", CloseTo(run.want.tensors("gradients"),
                                                      {.absolute = 0, .relative = relative})));
  }
}

TEST_F(Clipping, task2_calls_share_no_state) {
  const auto two = [&](Gradients first, const Gradients& second, double one, double other) {
    const auto count = static_cast<int64_t>(first.size());
    first.insert(first.end(), second.begin(), second.end());
    return clip_case(random(), first, one).number("max_norm_of_second", other).integer("first",
                                                                                       count);
  };
  std::vector<Case> cases{
      two({row({3, -4})}, {row({0.3, -0.4})}, 1, 1),
      two({row({0.3, -0.4})}, {row({3, -4})}, 1, 1),
      two({row({3}), row({-4})}, {row({-5, 12})}, 1, 2),
  };
  for (int i = 0; i < 5; ++i) {
    const auto first = brought_to(draw_gradients(random(), 1 + i, types_of(i)), 4);
    const auto second = brought_to(draw_gradients(random(), 2 + i, types_of(i + 1)), 9);
    cases.push_back(two(first, second, random().uniform(1, 3), random().uniform(1, 3)));
  }
  const auto got = subject().observe("clip_two_lists", cases);
  const auto want = reference().observe("clip_two_lists", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Tensors("gradients", CloseTo(run.want.tensors("gradients"),
                                                      clip_tolerance(run.in))));
  }
}

}  // namespace
