// loss_scaling.1: what becomes of the gradients.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::loss_scaling_checks;

void expect_unscaled(const Together& runs) {
  for (const auto& run : runs) EXPECT_THAT(run.got, Tensors("gradients", unscaled(run.in)));
}

TEST_F(LossScaling, task1_gradients_are_divided_by_the_scale) {
  std::vector<Case> cases{
      unscale_case(random(), {.groups = {{row({2048})}}, .scale = 1024}),
      unscale_case(random(), {.groups = {{row({65536, -32768})}}, .scale = 65536}),
      unscale_case(random(), {.groups = {{row({-0.5}), row({3, 0})}}, .scale = 4}),
      // A double that is no float32: what a cast loses is seen.
      unscale_case(random(), {.groups = {{row({0.1, -0.3}, kDouble)}}, .scale = 2}),
  };
  for (int i = 0; i < 8; ++i) {
    const auto gradients = draw_gradients(random(), 1 + i, i % 2 == 0 ? kFloat : kDouble);
    cases.push_back(
        unscale_case(random(), {.groups = {gradients}, .scale = draw_power(random(), 1, 20)}));
  }
  const auto got = subject().observe("unscale", cases);
  expect_unscaled(together(cases, got, got));
}

TEST_F(LossScaling, task1_any_scale_will_do) {
  const auto one = [&](double scale, Gradients gradients) {
    return unscale_case(random(), {.groups = {std::move(gradients)}, .scale = scale});
  };
  std::vector<Case> cases{
      one(1, {row({7, -3})}),
      one(0.5, {row({7, -3})}),
      one(0.75, {row({6, -3})}),
      one(0x1p-20, {row({0.5, -3})}),
      one(3, {row({6, -9}), row({1}, kDouble)}),
      one(1000, {row({2000, -5})}),
      one(0.1, {row({2, -5}, kDouble)}),
      one(0x1p40, {row({0x1p40, -5})}),
      // The ends of where float16 holds 1 / scale; it does not hold 2^24.
      one(0x1p24, {row({32768, -65504}, kHalf)}),
      one(0x1p-15, {row({0.125, -0.25}, kHalf)}),
      one(0x1p100, {row({0x1p90, -5}, kBFloat16)}),
  };
  for (int i = 0; i < 8; ++i) {
    const double digits = static_cast<double>(random().integer(11, 99));
    const double scale = digits * (i % 2 == 0 ? 1e3 : 1e-3);
    cases.push_back(one(scale, draw_gradients(random(), 1 + i / 2, i % 4 < 2 ? kFloat : kDouble)));
  }
  const auto got = subject().observe("unscale", cases);
  expect_unscaled(together(cases, got, got));
}

// Both kinds of what is not finite in one tensor: which of them is looked for is another check's.
TEST_F(LossScaling, task1_every_group_counts) {
  const auto bad = [&] { return row({kInfinity, kNaN}); };
  std::vector<Case> cases{
      unscale_case(random(), {.groups = {{row({2048})}, {row({-1024})}}}),
      unscale_case(random(), {.groups = {{}, {row({2048})}}}),
      unscale_case(random(), {.groups = {{row({2048})}, {}, {row({512}), row({-1024})}}}),
      unscale_case(random(), {.groups = {{row({1024})}, {bad()}}}),
      unscale_case(random(), {.groups = {{bad()}, {row({1024})}}}),
      unscale_case(random(), {.groups = {{}, {row({1024})}, {}, {bad()}}}),
  };
  for (int i = 0; i < 4; ++i) {
    std::vector<Gradients> groups;
    for (int group = 0; group < 2 + i; ++group) groups.push_back(draw_gradients(random(), 2));
    if (i % 2 == 1) groups[static_cast<size_t>(random().integer(1, i))].push_back(bad());
    cases.push_back(
        unscale_case(random(), {.groups = groups, .scale = draw_power(random(), 1, 16)}));
  }
  const auto got = subject().observe("unscale", cases);
  const auto want = reference().observe("unscale", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Flag("found_inf", run.want.number("found_inf") != 0));
    // The other half of the property, where all is finite: the rest is another check's.
    if (run.want.number("found_inf") == 0) {
      EXPECT_THAT(run.got, Tensors("gradients", unscaled(run.in)));
    }
  }
}

// Not an early return, no zeroes and no mending: the finite ones are unscaled, inf stays inf.
TEST_F(LossScaling, task1_the_rest_is_unscaled_whatever_is_found) {
  const auto one = [&](Gradients gradients) {
    return unscale_case(random(), {.groups = {std::move(gradients)}});
  };
  std::vector<Case> cases{
      one({row({kInfinity, 2048})}),
      one({row({kNaN}), row({2048})}),
      one({row({2048}), row({-kInfinity}), row({-1024})}),
      one({row({512, kNaN, -1024}, kDouble)}),
  };
  for (const double value : {kInfinity, -kInfinity, kNaN}) {
    auto gradients = draw_gradients(random(), 4);
    gradients[static_cast<size_t>(random().integer(0, 2))].view({-1})[0] = value;
    cases.push_back(one(gradients));
  }
  const auto got = subject().observe("unscale", cases);
  expect_unscaled(together(cases, got, got));
}

// The half types with numbers that they hold exactly, before and after.
TEST_F(LossScaling, task1_in_place_and_in_its_own_type) {
  std::vector<Case> cases{
      unscale_case(random(), {.groups = {{row({2048})}}}),
      unscale_case(random(), {.groups = {{row({3072, -512}, kHalf)}}}),
      unscale_case(random(), {.groups = {{row({3072, -512}, kBFloat16)}}}),
      unscale_case(random(), {.groups = {{row({49152, -4096}, kHalf)}}, .scale = 65536}),
      unscale_case(random(), {.groups = {{draw_transposed(random(), kFloat)}}}),
      unscale_case(random(), {.groups = {{draw_strided(random(), kFloat)}}}),
  };
  for (const auto dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    const Gradients gradients{draw_values(random(), {3}, dtype), draw_strided(random(), dtype),
                              draw_transposed(random(), dtype), scalar(1024, dtype)};
    cases.push_back(unscale_case(random(), {.groups = {gradients}, .scale = 64}));
  }
  const auto got = subject().observe("unscale", cases);
  for (const auto& run : together(cases, got, got)) {
    const auto rule = unscaled(run.in);
    EXPECT_THAT(run.got, Tensors("gradients", rule));
    EXPECT_THAT(run.got, Tensors("old_memory_of_gradients", rule));
  }
}

TEST_F(LossScaling, task1_which_gradients_count) {
  const auto one = [&](Gradients gradients, std::vector<size_t> frozen = {}) {
    return unscale_case(random(), {.groups = {std::move(gradients)}, .frozen = std::move(frozen)});
  };
  const auto bad = [&] { return row({kInfinity, kNaN}); };
  const auto empty = torch::empty({0}, kFloat);
  std::vector<Case> cases{
      one({none(), row({2048})}),
      one({row({2048}), none()}),
      one({none(), none()}),
      one({scalar(2048)}),
      one({empty, row({1024}), torch::empty({2, 0}, kFloat)}),
      one({none(), bad()}),
      one({bad(), none()}),
      one({empty, bad(), empty}),
      one({scalar(kNaN), scalar(kInfinity)}),
      one({row({1024}), row({2048})}, {1}),  // frozen, with an old gradient
      one({row({1024}), bad()}, {1}),
      Case().number("scale", 1024),
  };
  for (int i = 0; i < 3; ++i) {
    auto gradients = draw_gradients(random(), 4);
    gradients[static_cast<size_t>(random().integer(0, 3))] = none();
    cases.push_back(one(gradients, {static_cast<size_t>(i)}));
  }
  const auto got = subject().observe("unscale", cases);
  const auto want = reference().observe("unscale", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Flag("found_inf", run.want.number("found_inf") != 0));
    EXPECT_THAT(run.got, Tensors("parameters", BitEqualTo(run.in.parameter_values(), "unchanged")));
    if (run.want.number("found_inf") == 0) {
      EXPECT_THAT(run.got, Tensors("gradients", unscaled(run.in)));
    }
  }
}

}  // namespace
