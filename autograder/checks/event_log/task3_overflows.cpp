// event_log.3: where it overflowed, and whether the scale or the batch was the reason.
#include "logs.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::event_log_checks;
using event_log::Cause;
using event_log::Finding;
using event_log::Remedy;

using Findings = std::vector<Finding>;

TEST_F(EventLog, task3_the_start_of_a_run) {
  const auto count = static_cast<size_t>(random().integer(3, 8));
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), 64).skips().taken(), Findings{scale_too_high(0, 1)}},
      {SimulatedLog(random(), 64).skips(2).taken(), Findings{scale_too_high(0, 2)}},
      // The golden run of the step_order lab: 65536 -> 64.
      {SimulatedLog(random(), 65536).skips(10).taken(4), Findings{scale_too_high(0, 10)}},
      {SimulatedLog(random(), 65536).skips(count).taken(count)},
  };
  expect_findings(subject(), reference(), logs);
}

TEST_F(EventLog, task3_growth_alone_is_nothing) {
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), 64).taken(), Findings{}},
      {SimulatedLog(random(), 64).grows().taken(), Findings{}},
      {SimulatedLog(random(), 64).taken(2).grows().taken(3).grows(), Findings{}},
      {SimulatedLog(random(), {}).taken(3), Findings{}},
      {Case(SimulatedLog(random(), 0.25).grows().grows().taken()), Findings{}},
  };
  expect_findings(subject(), reference(), logs);
}

TEST_F(EventLog, task3_growth_that_went_too_far) {
  const auto before = static_cast<size_t>(random().integer(2, 5));
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), 64).grows().skips().taken(), Findings{scale_too_high(1, 1)}},
      {SimulatedLog(random(), 64).grows().skips(2).taken(), Findings{scale_too_high(1, 2)}},
      {SimulatedLog(random(), 1024).taken(before).grows().skips().taken(3)},
  };
  expect_findings(subject(), reference(), logs);
}

TEST_F(EventLog, task3_a_bad_batch) {
  const auto before = static_cast<size_t>(random().integer(2, 5));
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), 64).taken().skips().taken(), Findings{bad_batch(1, 1)}},
      {SimulatedLog(random(), 64).taken().skips(1, 400).taken(), Findings{bad_batch(1, 1)}},
      {SimulatedLog(random(), 64).taken().skips(2).taken(), Findings{bad_batch(1, 2)}},
      {SimulatedLog(random(), 64).grows().taken().skips().taken(), Findings{bad_batch(2, 1)}},
      {SimulatedLog(random(), 512).taken(before).skips(1, 100).taken(3)},
  };
  expect_findings(subject(), reference(), logs);
}

// At scales that would be to blame, were the loss finite; and one that is not finite only later.
TEST_F(EventLog, task3_a_loss_that_is_not_finite) {
  const auto before = static_cast<size_t>(random().integer(1, 4));
  const std::vector<WorkedLog> logs{
      {SimulatedLog(random(), 64).skips(1, kNaN).taken(), Findings{bad_batch(0, 1)}},
      {SimulatedLog(random(), 64).grows().skips(1, kInfinity).taken(), Findings{bad_batch(1, 1)}},
      {SimulatedLog(random(), 64).skips(1, -kInfinity).taken(), Findings{bad_batch(0, 1)}},
      {SimulatedLog(random(), 64).skips().skips(1, kNaN).taken(), Findings{scale_too_high(0, 2)}},
      {SimulatedLog(random(), 64).skips(1, kNaN).skips().taken(), Findings{bad_batch(0, 2)}},
      {SimulatedLog(random(), 256).taken(before).grows().skips(1, kNaN).taken(2)},
  };
  expect_findings(subject(), reference(), logs);
}

// The scale grows again 10 records after a finding, or sooner.
TEST_F(EventLog, task3_growing_too_often) {
  const auto between = [&](size_t records) {
    return SimulatedLog(random(), 64).grows().skips().taken(records - 1).grows().skips().taken();
  };
  const auto again = Remedy::kLongerGrowthInterval;
  const std::vector<WorkedLog> logs{
      {between(1), Findings{scale_too_high(1, 1), scale_too_high(3, 1, again)}},
      {between(9), Findings{scale_too_high(1, 1), scale_too_high(11, 1, again)}},
      {between(10), Findings{scale_too_high(1, 1), scale_too_high(12, 1)}},
      {SimulatedLog(random(), 64).taken().skips().grows().skips(),
       Findings{bad_batch(1, 1), scale_too_high(3, 1, again)}},
      {SimulatedLog(random(), 65536).skips(10).grows().skips(),
       Findings{scale_too_high(0, 10), scale_too_high(11, 1, again)}},
  };
  expect_findings(subject(), reference(), logs);
}

}  // namespace
