// loss_scaling.2: how far the scale moves, and what an update leaves alone.
#include "updates.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::loss_scaling_checks;

// A refused growth ends the count as well: the tracker tells it from an answer that does nothing.
TEST_F(LossScaling, task2_grows_up_to_the_largest_float32) {
  const std::vector<Worked> worked{
      {{.scale = 0x1p127, .growth_interval = 1, .found_inf = clean(2)}, {0x1p127, 0x1p127}},
      {{.scale = 0x1p126, .growth_interval = 1, .found_inf = clean(3)},
       {0x1p127, 0x1p127, 0x1p127}},
      {{.scale = 0x1p127, .growth_interval = 1, .found_inf = clean(2), .growth_factor = 1.5},
       {0x1.8p127, 0x1.8p127}},
      {{.scale = 0x1p40, .growth_interval = 1, .found_inf = clean(2)}, {0x1p41, 0x1p42}},
      {{.scale = 0x1.8p127, .found_inf = clean(2), .growth_tracker = 1999}, {0x1.8p127, 0x1.8p127}},
  };
  const std::vector<std::vector<int64_t>> ended{{0, 0}, {0, 0, 0}, {0, 0}, {0, 0}, {0, 1}};
  auto cases = cases_of(worked);
  for (int i = 0; i < 3; ++i) {
    const int64_t interval = random().integer(2, 3);
    cases.push_back(update_case({.scale = draw_power(random(), 124, 127),
                                 .growth_interval = interval,
                                 .found_inf = clean(8),
                                 .growth_tracker = interval - 1}));
  }
  const auto got = subject().observe("update", cases);
  const auto want = reference().observe("update", cases);
  expect_scales(together(cases, got, want), worked);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    const auto right = i < ended.size() ? trackers(ended[i]) : run.want.tensors(kTrackers);
    EXPECT_THAT(run.got, Tensors(kTrackers, BitEqualTo(right)));
    ++i;
  }
}

TEST_F(LossScaling, task2_the_scale_may_fall_below_one) {
  const std::vector<Worked> worked{
      {{.scale = 1, .found_inf = {1, 1}}, {0.5, 0.25}},
      {{.scale = 2, .found_inf = {1, 0, 1, 1}}, {1, 1, 0.5, 0.25}},
      {{.scale = 0x1p-20, .found_inf = {1}}, {0x1p-21}},
  };
  auto cases = cases_of(worked);
  cases.push_back(update_case({.scale = 4, .found_inf = std::vector<int>(40, 1)}));
  for (int i = 0; i < 3; ++i) {
    cases.push_back(update_case(
        {.scale = draw_power(random(), -30, 0), .found_inf = draw_flags(random(), 10, 0.5)}));
  }
  const auto got = subject().observe("update", cases);
  const auto want = reference().observe("update", cases);
  expect_scales(together(cases, got, want), worked);
}

// With interval 1, and whole numbers: what counting or a bound does wrong is seen elsewhere.
// Each update may round the factor and the product to float32; one rounding more is in reserve.
TEST_F(LossScaling, task2_any_factors_will_do) {
  std::vector<Updates> updates{
      {.scale = 64, .growth_interval = 1, .found_inf = {1, 1, 0}, .backoff_factor = 0.25},
      {.scale = 4, .growth_interval = 1, .found_inf = {0, 0}, .growth_factor = 1.5},
      {.scale = 100, .growth_interval = 1, .found_inf = {0, 0, 1}, .growth_factor = 10},
      {.scale = 1000, .growth_interval = 1, .found_inf = {1, 1, 1}, .backoff_factor = 0.7},
  };
  const std::vector<std::vector<double>> worked{
      {16, 4, 8}, {6, 9}, {1000, 10000, 5000}, {700, 490, 343}};
  for (int i = 0; i < 5; ++i) {
    updates.push_back({.scale = 1e4 * static_cast<double>(random().integer(1, 9)),
                       .growth_interval = 1,
                       .found_inf = draw_flags(random(), 2, 0.5),
                       .growth_factor = static_cast<double>(random().integer(11, 40)) / 10,
                       .backoff_factor = static_cast<double>(random().integer(5, 45)) / 100});
  }
  std::vector<Case> cases;
  for (const auto& one : updates) cases.push_back(update_case(one));
  const auto got = subject().observe("update", cases);
  const auto want = reference().observe("update", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    const auto right = i < worked.size() ? scales(worked[i]) : run.want.tensors(kScales);
    const double roundings = 3.0 * static_cast<double>(right.size());
    const Tolerance tolerance{.absolute = 0, .relative = roundings * 0x1p-24};
    EXPECT_THAT(run.got, Tensors(kScales, CloseTo(right, tolerance)));
    ++i;
  }
}

// A property of the answer alone: beside another scale, one does as it does by itself.
TEST_F(LossScaling, task2_two_scales_share_nothing) {
  std::vector<Case> cases{
      update_case({.scale = 8, .growth_interval = 2, .found_inf = clean(4)}),
      update_case({.scale = 8, .growth_interval = 3, .found_inf = {0, 0, 1, 0, 0, 0}}),
  };
  for (int i = 0; i < 3; ++i) {
    cases.push_back(update_case({.scale = draw_power(random(), 8, 12),
                                 .growth_interval = random().integer(2, 5),
                                 .found_inf = draw_flags(random(), 12, 0.2)}));
  }
  const auto alone = subject().observe("update", cases);
  const auto got = subject().observe("update_beside_another", cases);
  for (const auto& run : together(cases, got, alone)) {
    EXPECT_THAT(run.got, Tensors(kScales, BitEqualTo(run.want.tensors(kScales), "as alone")));
    EXPECT_THAT(run.got, Tensors(kTrackers, BitEqualTo(run.want.tensors(kTrackers), "as alone")));
  }
}

TEST_F(LossScaling, task2_factors_and_interval_stay) {
  std::vector<Case> cases{
      update_case({.scale = 8, .growth_interval = 2, .found_inf = {1}}),
      update_case({.scale = 8, .growth_interval = 2, .found_inf = {0, 0}}),
      update_case({.scale = 0x1p127, .growth_interval = 1, .found_inf = {0}}),
  };
  for (int i = 0; i < 3; ++i) {
    cases.push_back(update_case({.scale = draw_power(random(), 8, 12),
                                 .growth_interval = random().integer(2, 5),
                                 .found_inf = draw_flags(random(), 12, 0.3),
                                 .growth_factor = 3,
                                 .backoff_factor = 0.25}));
  }
  const auto got = subject().observe("update", cases);
  for (const auto& run : together(cases, got, got)) {
    for (const char* name : {"growth_factor", "backoff_factor"}) {
      EXPECT_THAT(run.got, Number(name, Near(run.in.number(name), 0)));
    }
    const auto interval = static_cast<double>(run.in.integer("growth_interval"));
    EXPECT_THAT(run.got, Number("growth_interval", Near(interval, 0)));
  }
}

}  // namespace
