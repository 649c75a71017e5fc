// loss_scaling.1: what found_inf says.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::loss_scaling_checks;

Case one_group(Random& random, Gradients gradients) {
  return unscale_case(random, {.groups = {std::move(gradients)}});
}

// Three gradients, one element of which is this one.
Case spoilt(Random& random, size_t where, double value, torch::ScalarType dtype) {
  auto gradients = draw_gradients(random, 3, dtype);
  auto flat = gradients[where].view({-1});
  flat[random.integer(0, flat.numel() - 1)] = value;
  return one_group(random, std::move(gradients));
}

TEST_F(LossScaling, task1_inf_and_nan_are_found) {
  std::vector<Case> cases{
      one_group(random(), {row({1024})}),  // nothing wrong: to say so always is no answer
      one_group(random(), {row({kInfinity})}),
      one_group(random(), {row({1, -kInfinity})}),
      one_group(random(), {row({kNaN, 1})}),
      one_group(random(), {row({kInfinity, -kInfinity})}),
      one_group(random(), {row({1}), row({kNaN}, kDouble)}),
  };
  for (const auto dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (const double value : {kInfinity, -kInfinity, kNaN}) {
      for (size_t where = 0; where < 3; ++where) {
        cases.push_back(spoilt(random(), where, value, dtype));
      }
    }
  }
  cases.push_back(one_group(random(), draw_gradients(random(), 2)));
  const auto got = subject().observe("unscale", cases);
  const auto want = reference().observe("unscale", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Flag("found_inf", run.want.number("found_inf") != 0));
  }
}

// Every element is finite; what is not are sums, squares and casts to a narrower type.
TEST_F(LossScaling, task1_large_gradients_raise_no_alarm) {
  std::vector<Case> cases{
      one_group(random(), {row({0, -0.0})}),
      one_group(random(), {row({70000})}),
      one_group(random(), {row({2e38, 3e38})}),
      one_group(random(), {row({-3e38}), row({-3e38})}),
      one_group(random(), {row({1e30, -1e30})}),
      one_group(random(), {row({1e308, 1e308}, kDouble)}),
      one_group(random(), {row({60000, 60000}, kHalf)}),
      one_group(random(), {row({3e38, 3e38}, kBFloat16)}),
      one_group(random(), {torch::full({100}, 1e37, kFloat)}),
  };
  for (int i = 0; i < 4; ++i) {
    const auto large = draw_values(random(), {2 + i, 3}, i % 2 == 0 ? kFloat : kDouble, 36);
    cases.push_back(one_group(random(), {large.abs(), -large.abs()}));
  }
  const auto got = subject().observe("unscale", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Flag("found_inf", false));
  }
}

TEST_F(LossScaling, task1_found_inf_is_never_cleared) {
  const auto bad = [&] { return row({kInfinity, kNaN}); };
  std::vector<Case> cases{
      unscale_case(random(), {.groups = {{bad()}, {row({1024})}}}),
      unscale_case(random(), {.groups = {{row({1024})}, {row({512})}}}),
      unscale_case(random(), {.groups = {{row({1024})}}, .found_inf_before = true}),
      unscale_case(random(), {.groups = {{row({1024})}, {bad()}}, .found_inf_before = true}),
      unscale_case(random(), {.groups = {{bad(), row({1024})}, {row({512})}, {row({2048})}}}),
      unscale_case(random(), {.groups = {{row({1024})}, {bad()}, {row({512}), row({256})}}}),
  };
  for (int i = 0; i < 4; ++i) {
    std::vector<Gradients> groups;
    for (int group = 0; group < 3; ++group) groups.push_back(draw_gradients(random(), 1 + i));
    groups[static_cast<size_t>(i) % 3][0] = bad();
    cases.push_back(unscale_case(random(), {.groups = groups, .found_inf_before = i == 3}));
  }
  cases.push_back(unscale_case(random(), {.groups = {{row({1024})}, {row({2048})}}}));
  const auto got = subject().observe("unscale_one_by_one", cases);
  const auto want = reference().observe("unscale_one_by_one", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Flag("found_inf", run.want.number("found_inf") != 0));
  }
}

}  // namespace
