// clipping.1: the norm of all gradients, taken as one vector.
#include <algorithm>
#include <cmath>

#include "lists.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::clipping_checks;

[[maybe_unused]] const bool kIdle = add_idle_answers<clipping::Impl>();

void expect_norms(const Together& runs, double (*tolerance)(const Gradients&)) {
  for (const auto& run : runs) {
    const double norm = run.want.number("norm");
    EXPECT_THAT(run.got, Number("norm", Near(norm, norm * tolerance(run.in.gradients()))));
  }
}

struct Worked {
  Gradients gradients;
  std::vector<double> norms;  // each of them is right; the first is shown
};

TEST_F(Clipping, task1_hand_worked_norms) {
  std::vector<Worked> worked{
      {{row({3, 4})}, {5}},
      {{row({-2}), row({1, -2})}, {3}},
      {{scalar(-7)}, {7}},
      {{row({1, 2, 2, 4}).view({2, 2})}, {5}},  // Build a Large Language Model, appendix D.3
      {{row({3, 0}), row({0, 4})}, {5}},
      {{torch::empty({0}), row({6e-4}), row({8e-4})}, {1e-3}},
      {{row({2}, torch::kFloat64), row({3, 6}, torch::kFloat64)}, {7}},
      {{row({0, 0, 0})}, {0}},
      {Gradients(5, torch::ones({5, 5})), {std::sqrt(125.0)}},  // CS336, assignment 1
      // The squares vanish in float32: LibTorch says 0. Squares that overflow are left out: a
      // compensated float32 sum turns them into NaN, and nothing wrong would be seen by them.
      {{row({3e-30, 4e-30})}, {5e-30, 0}},
  };
  // The same triangles in sizes that no table of answers knows, exact in float32.
  for (int i = 0; i < 4; ++i) {
    const double unit = static_cast<double>(random().integer(5, 400)) / 4;
    worked.push_back({{row({3 * unit}), row({-4 * unit})}, {5 * unit}});
    worked.push_back({{row({2 * unit, -unit, 2 * unit})}, {3 * unit}});
  }
  std::vector<Case> cases;
  for (const auto& one : worked) cases.push_back(list_of(random(), one.gradients));
  const auto got = subject().observe("total_norm", cases);
  auto expected = worked.begin();
  for (const auto& run : together(cases, got, got)) {
    const auto& norms = (expected++)->norms;
    EXPECT_THAT(run.got, Number("norm", NearAnyOf(norms, 1e-5 * norms.front())));
  }
}

TEST_F(Clipping, task1_norm_of_random_lists) {
  std::vector<Case> cases{
      // Doubles that are no floats: what a cast loses is seen.
      list_of(random(), {row({0.1, -0.2}, torch::kFloat64), row({0.2}, torch::kFloat64)}),
      list_of(random(), {draw_strided(random(), torch::kFloat32)}),
  };
  for (int i = 0; i < 16; ++i) {
    const auto exponent = static_cast<int>(random().integer(-4, 1));
    auto gradients = draw_gradients(random(), 1 + i * 3 / 4, types_of(i), exponent);
    const auto dtype = gradients.front().scalar_type();
    if (i % 4 == 2) gradients.push_back(draw_strided(random(), dtype));
    if (i % 4 == 3) gradients.push_back(draw_transposed(random(), dtype));
    cases.push_back(list_of(random(), gradients));
  }
  const auto got = subject().observe("total_norm", cases);
  const auto want = reference().observe("total_norm", cases);
  expect_norms(together(cases, got, want), [](const Gradients& gradients) {
    const bool all_double = std::all_of(gradients.begin(), gradients.end(), [](const auto& g) {
      return g.scalar_type() == torch::kFloat64;
    });
    // A few hundred doubles leave no room for more than the order of the sum.
    return all_double ? 1e-12 : norm_tolerance(gradients);
  });
}

TEST_F(Clipping, task1_a_million_elements) {
  // The large one in the middle, so that to leave out the first or the last shows as well. All of
  // one sign: a sum is then far from the norm, whatever is drawn.
  const auto block = draw_values(random(), {1000}, torch::kFloat32, -2).abs().repeat({1000, 1});
  auto in = list_of(random(), {row({0.5}), row({0.25, -0.25})});
  in.parameter(torch::ones({1000, 1000}), block).parameter(torch::ones({1}), row({0.5}));
  // Twice, since a training loop asks at every step.
  const std::vector<Case> cases{in, list_of(random(), {block})};
  const auto got = subject().observe("total_norm", cases);
  const auto want = reference().observe("total_norm", cases);
  expect_norms(together(cases, got, want), norm_tolerance);
}

// Half and bfloat16 may round after each step on a whole tensor, but not square or sum in their own
// type: 300 * 300 is no half, 0.0003 * 0.0003 is 0, and 256 + 1 is 256 in bfloat16.
TEST_F(Clipping, task1_half_and_bfloat16) {
  constexpr auto kHalf = torch::kFloat16;
  constexpr auto kBFloat16 = torch::kBFloat16;
  std::vector<Case> cases{
      list_of(random(), {row({300}, kHalf)}),
      list_of(random(), {row({3e-4, 4e-4}, kHalf)}),
      list_of(random(), {row({300, -400}, kHalf)}),
      list_of(random(), {row({300}, kHalf), row({-400}, kHalf)}),
      list_of(random(), {row({3, -4}, kBFloat16), scalar(12, kBFloat16)}),
      list_of(random(), {row({30}, kHalf), row({-40}, torch::kFloat32)}),
      list_of(random(), {torch::ones({1000}, kBFloat16)}),
  };
  for (const auto dtype : {kHalf, kBFloat16}) {
    cases.push_back(
        list_of(random(), {draw_values(random(), {3}, dtype), draw_values(random(), {2, 4}, dtype),
                           draw_values(random(), {}, dtype)}));
  }
  const auto got = subject().observe("total_norm", cases);
  const auto want = reference().observe("total_norm", cases);
  expect_norms(together(cases, got, want), [](const Gradients& gradients) {
    const bool half = gradients.front().scalar_type() == kHalf;
    // One rounding a tensor, and a few for its norm, the sum and the root.
    const double roundings = static_cast<double>(gradients.size()) + 6;
    return roundings * (half ? 0x1p-11 : 0x1p-8);
  });
}

TEST_F(Clipping, task1_which_gradients_count) {
  std::vector<Case> cases{
      list_of(random(), {row({6}), none(), row({8})}),
      list_of(random(), {none(), row({6, 8})}),
      list_of(random(), {row({3, 4}), row({12})}, {1}),  // frozen, with an old gradient
      list_of(random(), {row({12}), none(), row({3, 4})}, {0, 1}),
  };
  for (int i = 0; i < 8; ++i) {
    auto gradients = draw_gradients(random(), 3 + i, types_of(i));
    std::vector<size_t> frozen;
    for (size_t at = 0; at < gradients.size(); ++at) {
      if (at > 0 && random().chance(0.3)) gradients[at] = none();
      if (random().chance(0.3)) frozen.push_back(at);
    }
    cases.push_back(list_of(random(), gradients, frozen));
  }
  const auto got = subject().observe("total_norm", cases);
  const auto want = reference().observe("total_norm", cases);
  expect_norms(together(cases, got, want), norm_tolerance);
}

TEST_F(Clipping, task1_nothing_else_changes) {
  std::vector<Case> cases{
      Case(),                                          // no parameters
      list_of(random(), {none(), none()}, {1}),        // no gradients
      list_of(random(), {torch::empty({0}), none()}),  // no elements
  };
  for (int i = 0; i < 4; ++i) {
    auto gradients = draw_gradients(random(), 1 + i, types_of(i));
    gradients.push_back(none());
    gradients.push_back(draw_strided(random(), torch::kFloat32));
    cases.push_back(list_of(random(), gradients));
  }
  const auto got = subject().observe("total_norm_and_inputs", cases);
  const auto want = reference().observe("total_norm_and_inputs", cases);
  for (const auto& run : together(cases, got, want)) {
    if (run.want.number("norm") == 0) EXPECT_THAT(run.got, Number("norm", Near(0, 0)));
    EXPECT_THAT(run.got, Tensors("gradients", BitEqualTo(run.in.gradients(), "unchanged")));
    EXPECT_THAT(run.got, Tensors("parameters", BitEqualTo(run.in.parameter_values(), "unchanged")));
  }
}

}  // namespace
