// clipping.4: clip from the end of warm-up on.
#include <algorithm>

#include "lists.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::clipping_checks;

constexpr int64_t k32Bits = int64_t{1} << 32;

struct Moment {
  int64_t step;
  int64_t warmup_steps;
};

// These lists at these moments, one after the other; the last moment for the lists that are left.
std::vector<Case> at(const std::vector<Moment>& moments, std::vector<Case> lists) {
  for (size_t i = 0; i < lists.size(); ++i) {
    const auto& [step, warmup_steps] = moments[std::min(i, moments.size() - 1)];
    lists[i].integer("step", step).integer("warmup_steps", warmup_steps);
  }
  return lists;
}

TEST_F(Clipping, task4_clips_once_warmup_is_over) {
  const int64_t warmup = random().integer(1, 1000);
  const auto cases = at({{11, 10},
                         {1, 0},
                         {100, 20},
                         {warmup + random().integer(1, 1000), warmup},
                         {k32Bits / 2 + 7, 1000},
                         {k32Bits + 5, 100},
                         {k32Bits + 20, k32Bits + 10}},
                        large_cases(random(), 5));
  const auto got = subject().observe("clip_after_warmup", cases);
  const auto want = reference().observe("clip_after_warmup", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Flag("clipped", true));
    EXPECT_THAT(run.got, Tensors("gradients", clipped(run, i++)));
  }
}

// In place, as in task 2: asked for here, since no guard waits for this check.
TEST_F(Clipping, task4_the_boundary_step_clips) {
  const int64_t warmup = random().integer(2, 1000);
  auto lists = large_cases(random(), 2);
  lists.push_back(clip_case(random(), {draw_strided(random(), torch::kFloat32)}, 1));
  lists.push_back(clip_case(random(), {none(), draw_transposed(random(), torch::kFloat64)}, 1));
  const auto cases =
      at({{10, 10}, {0, 0}, {1, 1}, {k32Bits + 3, k32Bits + 3}, {warmup, warmup}}, lists);
  const auto got = subject().observe("clip_after_warmup", cases);
  const auto want = reference().observe("clip_after_warmup", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Flag("clipped", true));
    const auto rule = clipped(run, i++);
    EXPECT_THAT(run.got, Tensors("gradients", rule));
    EXPECT_THAT(run.got, Tensors("aliases", rule));
  }
}

TEST_F(Clipping, task4_nothing_happens_before) {
  // Warm-ups of more steps than there are cases: to count calls instead is another check's mistake.
  const int64_t warmup = random().integer(20, 1000);
  const auto cases = at({{9, 10},
                         {0, 10},
                         {0, 20},
                         {warmup - 1, warmup},
                         {random().integer(1, warmup - 2), warmup},
                         {50, k32Bits + 10},
                         {k32Bits - 1, k32Bits}},
                        large_cases(random(), 3));
  const auto got = subject().observe("clip_after_warmup", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Flag("clipped", false));
    const auto unchanged = BitEqualTo(run.in.gradients(), "unchanged");
    EXPECT_THAT(run.got, Tensors("gradients", unchanged));
    EXPECT_THAT(run.got, Tensors("aliases", unchanged));
  }
}

TEST_F(Clipping, task4_small_norm_after_warmup_returns_true) {
  const auto cases =
      at({{11, 10}, {10, 10}, {0, 0}, {random().integer(501, 900), 500}, {k32Bits + 5, 100}},
         small_cases(random(), 3));
  const auto got = subject().observe("clip_after_warmup", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Flag("clipped", true));
    EXPECT_THAT(run.got, Tensors("gradients", BitEqualTo(run.in.gradients(), "unchanged")));
  }
}

}  // namespace
