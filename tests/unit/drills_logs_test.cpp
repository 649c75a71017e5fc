// The simulated runs, read by gradlab's own log reader: it finds the cause that the question asks
// for.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "drills/log_run.hpp"
#include "drills/text.hpp"
#include "temp_folder.hpp"
#include "training_log/reading.hpp"

namespace gradlab::drills {
namespace {

std::string json(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return "\"inf\"";
  return fmt::format("{:.9g}", value);
}

training_log::Report read(const LogRun& run) {
  const gradlab::testing::TempFolder folder;
  const auto path = folder.path() / "run.jsonl";
  {
    std::ofstream out(path);
    for (const auto& step : run.steps) {
      out << fmt::format(
          "{{\"step\": {}, \"loss\": {}, \"norm\": {}, \"scale\": {}, \"lr\": {}, \"skipped\": "
          "{}}}\n",
          step.step, json(step.loss), json(step.norm), json(step.scale), json(step.lr),
          step.skipped);
    }
  }
  training_log::ReadOptions options;
  options.max_norm = run.max_norm;
  return training_log::read_log(path.string(), options);
}

class EachCause : public ::testing::TestWithParam<std::string> {};

TEST_P(EachCause, is_what_the_log_reader_finds) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    Random random(seed);
    const auto run = log_run(GetParam(), random);
    std::vector<std::string> found;
    for (const auto& finding : read(run).all()) found.push_back(finding.name);
    ASSERT_THAT(found, ::testing::Contains(GetParam())) << "seed " << seed;
    for (const auto& other : log_causes()) {
      // A run with regular overflows has single ones too; else one cause is all that is there.
      if (other == GetParam() || other == "single_overflow") continue;
      EXPECT_THAT(found, ::testing::Not(::testing::Contains(other))) << "seed " << seed;
    }
  }
}

TEST_P(EachCause, begins_at_the_step_that_the_question_asks_for) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    Random random(seed);
    const auto run = log_run(GetParam(), random);
    for (const auto& finding : read(run).all()) {
      if (finding.name == GetParam() &&
          (finding.name == "single_overflow" || finding.name == "scale_collapse" ||
           finding.name == "nan_without_overflow")) {
        EXPECT_EQ(finding.first, run.event);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachCause, ::testing::ValuesIn(log_causes()),
                         [](const auto& param) { return param.param; });

TEST(BusyRuns, skip_and_grow_as_the_scaler_does) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const auto run = busy_run(random);
    Scaler scaler = run.scaler;
    for (const auto& step : run.steps) {
      ASSERT_EQ(step.scale, scaler.scale);
      scaler.update(!std::isfinite(step.norm));
      ASSERT_EQ(step.scale_after, scaler.scale);
      ASSERT_EQ(step.skipped, !std::isfinite(step.norm));
    }
  }
}

}  // namespace
}  // namespace gradlab::drills
