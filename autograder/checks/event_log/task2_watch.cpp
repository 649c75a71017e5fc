// event_log.2: events, and which norms the baseline takes in.
#include <cmath>

#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::event_log_checks;

constexpr int64_t kWarmUp = event_log::kWarmUp;

void expect_events(const Run& run) {
  EXPECT_THAT(run.got, Word("events", run.want.word("events")));
}

void expect_baseline(const Run& run) {
  for (const std::string what : {"updates", "mean", "variance"}) {
    const auto name = what + "_after_records";
    EXPECT_THAT(run.got, Tensors(name, CloseTo(run.want.tensors(name),
                                               {.absolute = 1e-9, .relative = 1e-9})));
  }
}

// A norm this many decades from 1.
double decades(double count) { return std::pow(10.0, count); }

std::vector<double> draw_usual(Random& random, size_t count) {
  std::vector<double> norms;
  for (size_t i = 0; i < count; ++i) norms.push_back(decades(random.uniform(-0.3, 0.3)));
  return norms;
}

TEST_F(EventLog, task2_usual_norms_move_the_baseline) {
  std::vector<Case> cases{
      watched({.norms = {2}}),
      watched({.norms = {1, 2}, .updates = 0}),
      watched({.norms = {0.5}, .mean = 0.25, .updates = kWarmUp}),
  };
  for (const size_t count : {3, 6}) {
    cases.push_back(watched({.norms = draw_usual(random(), count), .updates = 0}));
  }
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) {
    expect_baseline(run);
    expect_events(run);
  }
}

// The norm of a skip is mostly inf or NaN, and finite where the overflow was in a parameter of
// another optimizer.
std::vector<Case> skipped_cases(Random& random) {
  return {
      watched({.norms = {kInfinity}, .skipped = {0}}),
      watched({.norms = {kNaN}, .skipped = {0}}),
      watched({.norms = {2}, .skipped = {0}}),
      watched({.norms = {1e6}, .skipped = {0}}),
      watched({.norms = {1e-6}, .skipped = {0}}),
      watched({.norms = {kInfinity, 3}, .skipped = {0, 1}, .updates = 0}),
      watched({.norms = {kNaN, kInfinity, random.uniform(1, 3)},
               .skipped = {0, 1, 2},
               .mean = random.uniform(-1, 1),
               .variance = 0.04}),
  };
}

TEST_F(EventLog, task2_a_skip_is_information) {
  const auto cases = skipped_cases(random());
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) expect_events(run);
}

TEST_F(EventLog, task2_a_skip_moves_no_baseline) {
  const auto cases = skipped_cases(random());
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) expect_baseline(run);
}

TEST_F(EventLog, task2_not_finite_and_not_skipped_is_critical) {
  const std::vector<Case> cases{
      watched({.norms = {kInfinity}}),
      watched({.norms = {kNaN}}),
      watched({.norms = {kInfinity, kNaN}, .updates = 2}),
      watched({.norms = {kNaN, random().uniform(0.5, 1)}, .mean = 0.1}),
  };
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) {
    expect_events(run);
    expect_baseline(run);
  }
}

TEST_F(EventLog, task2_exploding_is_a_warning) {
  const std::vector<Case> cases{
      watched({.norms = {100}}),
      watched({.norms = {100}, .updates = kWarmUp}),
      watched({.norms = {1e-3}, .mean = -5}),
      watched({.norms = {1e5, 1000}, .mean = 3}),
      watched({.norms = {decades(random().uniform(1.1, 9)), 1}}),
  };
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) expect_events(run);
}

TEST_F(EventLog, task2_vanishing_is_a_warning) {
  const std::vector<Case> cases{
      watched({.norms = {0.01}}),
      watched({.norms = {0.01}, .updates = kWarmUp}),
      watched({.norms = {0}}),
      watched({.norms = {1000}, .mean = 5}),
      watched({.norms = {decades(-random().uniform(1.1, 9)), 1}}),
  };
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) expect_events(run);
}

TEST_F(EventLog, task2_an_alarm_moves_no_baseline) {
  const std::vector<Case> cases{
      watched({.norms = {100}}),
      watched({.norms = {0.01}}),
      watched({.norms = {0}, .mean = 0.5}),
      watched({.norms = {100, decades(random().uniform(2, 5))}, .variance = 0.04}),
  };
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) expect_baseline(run);
}

TEST_F(EventLog, task2_no_alarm_during_warm_up) {
  const std::vector<Case> cases{
      watched({.norms = {100}, .updates = kWarmUp - 1}),
      watched({.norms = {0.01}, .updates = kWarmUp - 1}),
      watched({.norms = {1000}, .updates = 0}),
      watched({.norms = {0}, .updates = random().integer(1, kWarmUp - 2)}),
  };
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) {
    expect_events(run);
    expect_baseline(run);
  }
}

// A decade where norms are steady, 2.5 deviations where they are not.
TEST_F(EventLog, task2_the_margin_of_the_contract) {
  std::vector<Case> cases;
  for (const double sign : {1.0, -1.0}) {
    for (const double count : {0.8, 1.2}) {
      cases.push_back(watched({.norms = {decades(sign * count)}, .variance = 0.01}));
    }
    for (const double count : {1.2, 1.4, 1.6}) {  // 2.5 deviations are 1.5 decades
      cases.push_back(watched({.norms = {decades(sign * count)}, .variance = 0.36}));
    }
  }
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) {
    expect_events(run);
    expect_baseline(run);
  }
}

// Skips at the start and in between, an alarm, and norms that come back.
TEST_F(EventLog, task2_a_whole_run_is_watched) {
  std::vector<Case> cases;
  for (int i = 0; i < 3; ++i) {
    auto norms = draw_usual(random(), 24);
    for (size_t n = 2; n < 13; ++n) norms[n] = decades(random().uniform(-0.02, 0.02));
    norms[13] = decades(0.5);  // far from what was steady, and usual all the same
    const auto first = static_cast<size_t>(random().integer(3, 6));
    const auto later = static_cast<size_t>(random().integer(14, 17));
    norms[0] = norms[1] = norms[first] = kInfinity;
    norms[later] = kNaN;
    norms[later + 2] = decades(i == 1 ? 3 : -3);
    cases.push_back(watched({.norms = norms, .skipped = {0, 1, first, later}, .updates = 0}));
  }
  const auto got = subject().observe("watched_run", cases);
  const auto want = reference().observe("watched_run", cases);
  for (const auto& run : together(cases, got, want)) {
    expect_events(run);
    expect_baseline(run);
  }
}

}  // namespace
