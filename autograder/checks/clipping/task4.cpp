// clipping.4: clip from the end of warm-up on.
#include "lists.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::clipping_checks;

constexpr int64_t k32Bits = int64_t{1} << 32;

struct Moment {
  int64_t step;
  int64_t warmup_steps;
};

std::vector<Case> at(const std::vector<Moment>& moments, Random& random,
                     Case (*draw_list)(Random&, int)) {
  std::vector<Case> cases;
  for (const auto& [step, warmup_steps] : moments) {
    // Not index 3: near the limit a step says nothing more, and other lists say it plainer.
    const int index = static_cast<int>(cases.size()) % 3;
    cases.push_back(
        draw_list(random, index).integer("step", step).integer("warmup_steps", warmup_steps));
  }
  return cases;
}

Case minus_three_four(Random& random, int) { return clip_case(random, {row({-3, 4})}, 1); }

void expect_clipped(const Together& runs) {
  for (const auto& run : runs) {
    EXPECT_THAT(run.got, Flag("clipped", true));
    EXPECT_THAT(run.got, Tensors("gradients", CloseTo(run.want.tensors("gradients"),
                                                      clip_tolerance(run.in))));
  }
}

TEST_F(Clipping, task4_clips_once_warmup_is_over) {
  auto cases = at({{11, 10}}, random(), minus_three_four);
  const int64_t warmup = random().integer(1, 1000);
  const auto drawn = at({{1, 0},
                         {100, 20},
                         {warmup + random().integer(1, 1000), warmup},
                         {k32Bits / 2 + 7, 1000},
                         {k32Bits + 5, 100},
                         {k32Bits + 20, k32Bits + 10}},
                        random(), draw_large);
  cases.insert(cases.end(), drawn.begin(), drawn.end());
  const auto got = subject().observe("clip_after_warmup", cases);
  const auto want = reference().observe("clip_after_warmup", cases);
  expect_clipped(together(cases, got, want));
}

TEST_F(Clipping, task4_the_boundary_step_clips) {
  auto cases = at({{10, 10}, {0, 0}}, random(), minus_three_four);
  const int64_t warmup = random().integer(2, 1000);
  const auto drawn =
      at({{1, 1}, {warmup, warmup}, {k32Bits + 3, k32Bits + 3}}, random(), draw_large);
  cases.insert(cases.end(), drawn.begin(), drawn.end());
  const auto got = subject().observe("clip_after_warmup", cases);
  const auto want = reference().observe("clip_after_warmup", cases);
  expect_clipped(together(cases, got, want));
}

TEST_F(Clipping, task4_nothing_happens_before) {
  auto cases = at({{9, 10}, {0, 10}}, random(), minus_three_four);
  const int64_t warmup = random().integer(20, 1000);
  const auto drawn = at({{0, 20},
                         {warmup - 1, warmup},
                         {random().integer(1, warmup - 2), warmup},
                         {50, k32Bits + 10},
                         {k32Bits - 1, k32Bits}},
                        random(), draw_large);
  cases.insert(cases.end(), drawn.begin(), drawn.end());
  const auto got = subject().observe("clip_after_warmup", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Flag("clipped", false));
    const auto unchanged = BitEqualTo(run.in.gradients(), "unchanged");
    EXPECT_THAT(run.got, Tensors("gradients", unchanged));
    EXPECT_THAT(run.got, Tensors("aliases", unchanged));
  }
}

TEST_F(Clipping, task4_small_norm_after_warmup_returns_true) {
  const auto cases = at({{11, 10}, {10, 10}, {0, 0}, {random().integer(501, 900), 500},
                         {k32Bits + 5, 100}},
                        random(), draw_small);
  const auto got = subject().observe("clip_after_warmup", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Flag("clipped", true));
    EXPECT_THAT(run.got, Tensors("gradients", BitEqualTo(run.in.gradients(), "unchanged")));
  }
}

}  // namespace
