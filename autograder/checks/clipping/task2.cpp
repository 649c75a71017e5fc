// clipping.2: clip in place, the norm before clipping comes back.
#include <cmath>

#include "lists.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::clipping_checks;

constexpr auto kDouble = torch::kFloat64;

// By hand where there is something worked; what the reference leaves in the drawn cases after it.
void expect_clipped(const Together& runs, const std::vector<Gradients>& worked) {
  size_t i = 0;
  for (const auto& run : runs) {
    const auto& expected = i < worked.size() ? worked[i] : run.want.tensors("gradients");
    EXPECT_THAT(run.got, Tensors("gradients", CloseTo(expected, clip_tolerance(run.in))));
    ++i;
  }
}

TEST_F(Clipping, task2_large_norm_is_scaled_as_one_vector) {
  const auto cases = large_cases(random(), 12);
  const auto got = subject().observe("clip_once", cases);
  const auto want = reference().observe("clip_once", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Tensors("gradients", clipped(run, i++)));
  }
}

// The cases that two courses publish. CS336, assignment 1, test_gradient_clipping: six parameters,
// the last one frozen and without a gradient. Build a Large Language Model, appendix D.3: a matrix.
TEST_F(Clipping, task2_cs336_and_appendix_d3) {
  Gradients ones(5, torch::ones({5, 5}));
  ones.push_back(none());
  Gradients clipped_ones(5, torch::full({5, 5}, 1e-2 / std::sqrt(125.0)));
  clipped_ones.push_back(none());
  const std::vector<Case> cases{
      clip_case(random(), {row({1, 2, 2, 4}).view({2, 2})}, 1),
      clip_case(random(), ones, 1e-2, {5}),
  };
  const auto got = subject().observe("clip_once", cases);
  expect_clipped(together(cases, got, got),
                 {{row({0.2, 0.4, 0.4, 0.8}).view({2, 2})}, clipped_ones});
}

TEST_F(Clipping, task2_norm_before_clipping_is_returned) {
  std::vector<Case> cases{
      clip_case(random(), {row({3, -4})}, 1),
      clip_case(random(), {row({0.3, -0.4})}, 2),
      clip_case(random(), {row({6e-3}), row({8e-3})}, 0.02),
      clip_case(random(), {row({0, 0})}, 1),
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
  const auto cases = small_cases(random(), 12);
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
    const auto gradients = draw_gradients(random(), 1 + i, types_of(i), -8 - i % 2);
    const double part = random().uniform(0.05, 0.9);
    const double max_norm = i % 4 == 3 ? 0 : rounded_down(part * exact_norm(gradients), 2);
    cases.push_back(clip_case(random(), gradients, max_norm));
  }
  const auto got = subject().observe("clip_once", cases);
  const auto want = reference().observe("clip_once", cases);
  expect_clipped(together(cases, got, want), worked);
}

TEST_F(Clipping, task2_float64_stays_double) {
  // Norms so large that epsilon is out of sight, of numbers with one decimal: what shows is a cast
  // to float.
  const auto long_numbers = [&](torch::IntArrayRef shape) {
    return draw_values(random(), shape, kDouble, 4) + draw_values(random(), shape, kDouble, -1);
  };
  std::vector<Case> cases{
      clip_case(random(), {row({300000.3, -400000.4}, kDouble)}, 1),
      clip_case(random(), {row({300000.3}, kDouble), row({-400000.4}, kDouble)}, 10),
  };
  for (int i = 0; i < 6; ++i) {
    Gradients gradients{long_numbers({4})};
    for (int more = 0; more < i; ++more) gradients.push_back(long_numbers({more % 3, 1 + more}));
    const double part = random().uniform(1e-4, 0.5);
    cases.push_back(clip_case(random(), gradients, rounded_down(part * exact_norm(gradients), 2)));
  }
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
      clip_case(random(), {row({3, 4}), row({-12})}, 0.1, {1}),  // frozen, with an old gradient
      clip_case(random(), {draw_transposed(random(), torch::kFloat32)}, 1),
      clip_case(random(), {draw_strided(random(), torch::kFloat32)}, 1),
  };
  for (int i = 0; i < 5; ++i) {
    auto gradients = draw_gradients(random(), 2 + i, types_of(i));
    gradients.push_back(none());
    gradients.push_back(draw_strided(random(), kDouble));
    gradients.push_back(draw_transposed(random(), torch::kFloat32));
    const auto frozen = static_cast<size_t>(random().integer(0, 4 + i));
    cases.push_back(clip_case(random(), gradients, 1, {frozen}));
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
    const auto gradients = draw_gradients(random(), 1 + 2 * i, types_of(i), 1);
    const double ratio = random().uniform(1.5, 100);
    cases.push_back(clip_case(random(), gradients, rounded_down(exact_norm(gradients) / ratio, 2)));
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
    return clip_case(random(), first, one)
        .number("max_norm_of_second", other)
        .integer("first", count);
  };
  // All above the limit: what a small norm does to a clip is another check's property.
  std::vector<Case> cases{
      two({row({3, -4})}, {row({-5, 12})}, 1, 2),
      two({row({-5, 12})}, {row({3, -4})}, 2, 1),
      two({row({3}), row({-4})}, {row({-5}), row({12})}, 1, 2),
  };
  for (int i = 0; i < 5; ++i) {
    const auto first = draw_gradients(random(), 1 + i, types_of(i));
    const auto second = draw_gradients(random(), 2 + i, types_of(i + 1));
    const auto limit = [&](const Gradients& gradients) {
      return rounded_down(random().uniform(0.3, 0.8) * exact_norm(gradients), 2);
    };
    const double one = limit(first);
    cases.push_back(two(first, second, one, limit(second)));
  }
  const auto got = subject().observe("clip_two_lists", cases);
  const auto want = reference().observe("clip_two_lists", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Tensors("gradients",
                                 CloseTo(run.want.tensors("gradients"), clip_tolerance(run.in))));
  }
}

}  // namespace
