// loss_scaling.2: when the scale moves.
#include "updates.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::loss_scaling_checks;

TEST_F(LossScaling, task2_overflow_backs_off_at_once) {
  const std::vector<Worked> worked{
      {{.scale = 1024, .found_inf = {1}}, {512}},
      {{.scale = 65536, .found_inf = {1, 1, 1}}, {32768, 16384, 8192}},
      {{.scale = 48, .found_inf = {1, 0, 1}}, {24, 24, 12}},
      {{.scale = 1024, .growth_interval = 10, .found_inf = {0, 1}, .growth_tracker = 4},
       {1024, 512}},
  };
  auto cases = cases_of(worked);
  for (int i = 0; i < 5; ++i) {
    cases.push_back(update_case({.scale = draw_power(random(), 12, 20),
                                 .growth_interval = random().integer(50, 2000),
                                 .found_inf = draw_flags(random(), 4 + 2 * i, 0.6),
                                 .growth_tracker = random().integer(0, 9)}));
  }
  const auto got = subject().observe("update", cases);
  const auto want = reference().observe("update", cases);
  expect_scales(together(cases, got, want), worked);
}

TEST_F(LossScaling, task2_grows_exactly_at_the_interval) {
  const std::vector<Worked> worked{
      {{.scale = 8, .growth_interval = 1, .found_inf = clean(3)}, {16, 32, 64}},
      {{.scale = 8, .growth_interval = 2, .found_inf = clean(5)}, {8, 16, 16, 32, 32}},
      {{.scale = 8, .growth_interval = 3, .found_inf = clean(7)}, {8, 8, 16, 16, 16, 32, 32}},
      {{.scale = 512, .found_inf = clean(3), .growth_tracker = 1998}, {512, 1024, 1024}},
      {{.scale = 8, .growth_interval = 5, .found_inf = clean(2), .growth_tracker = 4}, {16, 16}},
  };
  auto cases = cases_of(worked);
  for (int i = 0; i < 5; ++i) {
    const int64_t interval = random().integer(2, 5 + i);
    cases.push_back(update_case({.scale = draw_power(random(), 0, 12),
                                 .growth_interval = interval,
                                 .found_inf = clean(8 + 2 * static_cast<size_t>(i)),
                                 .growth_tracker = random().integer(0, interval - 1)}));
  }
  const auto got = subject().observe("update", cases);
  const auto want = reference().observe("update", cases);
  expect_scales(together(cases, got, want), worked);
}

TEST_F(LossScaling, task2_an_overflow_starts_the_count_anew) {
  const std::vector<Worked> worked{
      {{.scale = 8, .growth_interval = 2, .found_inf = {0, 1, 0, 0}}, {8, 4, 4, 8}},
      {{.scale = 8, .growth_interval = 3, .found_inf = {0, 0, 0, 1, 0, 0, 0, 0}},
       {8, 8, 16, 8, 8, 8, 16, 16}},
      // The overflow comes where the scale would have grown.
      {{.scale = 8, .growth_interval = 2, .found_inf = {1, 0}, .growth_tracker = 1}, {4, 4}},
      {{.scale = 1024, .found_inf = {1, 0, 0}, .growth_tracker = 1998}, {512, 512, 512}},
  };
  auto cases = cases_of(worked);
  for (int i = 0; i < 4; ++i) {
    const int64_t interval = random().integer(2, 4);
    std::vector<int> flags = clean(static_cast<size_t>(interval - 1));
    flags.push_back(1);
    flags.resize(flags.size() + static_cast<size_t>(interval) + 2, 0);
    cases.push_back(update_case(
        {.scale = draw_power(random(), 4, 12), .growth_interval = interval, .found_inf = flags}));
  }
  const auto got = subject().observe("update", cases);
  const auto want = reference().observe("update", cases);
  expect_scales(together(cases, got, want), worked);
}

TEST_F(LossScaling, task2_tracker_counts_clean_updates_in_a_row) {
  const std::vector<Updates> updates{
      {.scale = 8, .growth_interval = 3, .found_inf = {0, 0, 0, 0}},
      {.scale = 8, .growth_interval = 5, .found_inf = {0, 0, 1, 0}},
      {.scale = 8, .growth_interval = 3, .found_inf = {0, 0, 0, 1, 0, 0, 0, 0}},
      {.scale = 8, .growth_interval = 9, .found_inf = {1, 1, 0}, .growth_tracker = 7},
      {.scale = 8, .growth_interval = 1, .found_inf = {0, 0, 1, 0}},
  };
  const std::vector<std::vector<int64_t>> worked{
      {1, 2, 0, 1}, {1, 2, 0, 1}, {1, 2, 0, 0, 1, 2, 0, 1}, {0, 0, 1}, {0, 0, 0, 0}};
  std::vector<Case> cases;
  for (const auto& one : updates) cases.push_back(update_case(one));
  for (int i = 0; i < 4; ++i) {
    cases.push_back(update_case({.scale = draw_power(random(), 8, 12),
                                 .growth_interval = random().integer(2, 6),
                                 .found_inf = draw_flags(random(), 9 + i, 0.2),
                                 .growth_tracker = random().integer(0, 1)}));
  }
  const auto got = subject().observe("update", cases);
  const auto want = reference().observe("update", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    const auto right = i < worked.size() ? trackers(worked[i]) : run.want.tensors(kTrackers);
    EXPECT_THAT(run.got, Tensors(kTrackers, BitEqualTo(right)));
    ++i;
  }
}

}  // namespace
