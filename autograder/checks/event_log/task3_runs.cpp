// event_log.3: runs that do not come back, what looks like them, and whole runs.
#include "logs.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::event_log_checks;
using event_log::Cause;
using event_log::Finding;
using event_log::Remedy;
using Findings = std::vector<Finding>;

constexpr Finding diverged(int64_t step, int64_t records) {
  return {step, records, Cause::kDiverged, Remedy::kLowerRateOrLimit};
}
constexpr Finding lost(int64_t step, int64_t records) {
  return {step, records, Cause::kNotSkipped, Remedy::kRestoreCheckpoint};
}

TEST_F(EventLog, task3_a_run_that_diverged) {
  const auto before = static_cast<size_t>(random().integer(1, 4));
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), 1).taken().skips(), Findings{diverged(1, 1)}},
      {SimulatedLog(random(), 2).taken().skips(2), Findings{diverged(1, 2)}},
      {SimulatedLog(random(), 1).skips(), Findings{diverged(0, 1)}},
      {SimulatedLog(random(), 1).taken().skips(2, kNaN), Findings{diverged(1, 2)}},
      {SimulatedLog(random(), 0.5).grows().skips(2), Findings{diverged(1, 2)}},
      {SimulatedLog(random(), 65536).taken(before).skips(20)},
  };
  expect_findings(subject(), reference(), logs);
}

// A log that ends in a skip, at a scale that is not low; and scales below 1 that hold.
TEST_F(EventLog, task3_divergence_is_both_low_and_last) {
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), 64).taken().skips(), Findings{bad_batch(1, 1)}},
      {SimulatedLog(random(), 2).taken().skips(), Findings{bad_batch(1, 1)}},
      {SimulatedLog(random(), 64).skips(3), Findings{scale_too_high(0, 3)}},
      {SimulatedLog(random(), 1).taken().skips(2).taken(), Findings{bad_batch(1, 2)}},
      {SimulatedLog(random(), 1).skips(2).taken(), Findings{scale_too_high(0, 2)}},
      {SimulatedLog(random(), 65536).skips(20).taken(2), Findings{scale_too_high(0, 20)}},
      {SimulatedLog(random(), 4096).taken().skips(12), Findings{bad_batch(1, 12)}},
  };
  expect_findings(subject(), reference(), logs);
}

TEST_F(EventLog, task3_not_finite_without_a_scaler) {
  const auto before = static_cast<size_t>(random().integer(2, 5));
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), {}).taken().lost(1), Findings{lost(1, 1)}},
      {SimulatedLog(random(), {}).taken().lost(2), Findings{lost(1, 2)}},
      {SimulatedLog(random(), {}).lost(3), Findings{lost(0, 3)}},
      {SimulatedLog(random(), {}).taken(before).lost(before)},
  };
  expect_findings(subject(), reference(), logs);
}

// A run that was resumed, and one of which every tenth step was written.
TEST_F(EventLog, task3_steps_are_those_of_the_log) {
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), 64, 500).skips().taken(), Findings{scale_too_high(500, 1)}},
      {SimulatedLog(random(), 64, 500).taken().skips().taken(), Findings{bad_batch(501, 1)}},
      {SimulatedLog(random(), 64, 0, 10).taken().skips(2).taken(), Findings{bad_batch(10, 2)}},
      {SimulatedLog(random(), 2, 700, 10).taken().skips(2), Findings{diverged(710, 2)}},
      {SimulatedLog(random(), {}, 700, 10).taken().lost(2), Findings{lost(710, 2)}},
  };
  expect_findings(subject(), reference(), logs);
}

// Everything in turn, and an end of each kind.
Case draw_whole_run(Random& random, int end) {
  const auto some = [&](int64_t least) {
    return static_cast<size_t>(random.integer(least, least + 3));
  };
  SimulatedLog log(random, 1024, random.integer(0, 100));
  log.skips(some(1)).taken(some(10)).grows().skips().taken(some(1));
  log.skips(1, 200).taken(some(1)).skips(1, kNaN).taken(some(1)).grows().taken(some(1));
  if (end == 1) log.skips(20);
  if (end == 2) log.skips();
  return log;
}

TEST_F(EventLog, task3_whole_runs) {
  std::vector<WorkedLog> logs;
  for (const int end : {0, 1, 2}) logs.push_back({draw_whole_run(random(), end)});
  expect_findings(subject(), reference(), logs);
}

}  // namespace
