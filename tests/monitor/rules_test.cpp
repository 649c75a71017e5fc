// The better rules beside the plain ones: each test first shows the plain rules' fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/loop.hpp"

namespace {

namespace monitor = gradlab::monitor;
using loops::Hand;
using loops::Told;
using monitor::Rules;

constexpr double kMissing = NAN;

// One layer whose gradient's norm at step i is norm(i), or two, the second at a calm 1.
Told told_of(Rules rules, int steps, const std::function<double(int)>& norm, size_t layers = 1) {
  Hand hand(layers, {1});
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(loops::every_step(rules)));
  for (int i = 0; i < steps; ++i) {
    std::vector<double> values(layers, 1);
    values[0] = norm(i);
    hand.set_all(values);
    monitor.step();
  }
  EXPECT_EQ(monitor.counts().errors, 0);
  return told;
}

Told told_of_losses(Rules rules, int steps, const std::function<double(int)>& loss) {
  Hand hand(1, {1});
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(loops::every_step(rules)));
  for (int i = 0; i < steps; ++i) {
    hand.set(0, 1);
    monitor.step(loss(i));
  }
  return told;
}

double wobble(int i) { return 1 + 0.1 * std::sin(2.4 * i); }

// ---- what both agree on

TEST(Alarm, an_explosion_is_told_once_confirmed_and_cleared) {
  for (const Rules rules : {Rules::kPlain, Rules::kBetter}) {
    const Told told = told_of(rules, 24, [](int i) {
      return wobble(i) * (i == 14 || (i >= 18 && i < 21) ? 1000 : 1);  // a blip, then a fault
    });
    EXPECT_THAT(told.names(), testing::ElementsAre("alarm", "alarm_cleared"));
    EXPECT_EQ(told.first("alarm").step, 19);
    EXPECT_EQ(loops::text(told.first("alarm"), "diagnosis"), "exploding");
    EXPECT_EQ(told.first("alarm_cleared").step, 21);
  }
}

TEST(Alarm, a_better_one_says_how_far_off_it_was) {
  const auto run = [](Rules rules) {
    return told_of(rules, 12, [](int i) { return i < 10 ? wobble(i) : 1e4; });
  };
  const Told plain = run(Rules::kPlain), better = run(Rules::kBetter);
  EXPECT_EQ(plain.first("alarm").find("deviation"), nullptr);  // sigma there is the setting
  EXPECT_EQ(loops::number(plain.first("alarm"), "sigma"), 2.5);
  EXPECT_NEAR(loops::number(better.first("alarm"), "decades"), 4, 0.1);
  EXPECT_GT(loops::number(better.first("alarm"), "deviation"), 50);
}

// ---- missing gradients

TEST(MissingGradient, is_told_where_it_stays_away) {
  const auto run = [](Rules rules) {
    return told_of(rules, 20, [](int i) { return i >= 10 && i < 15 ? kMissing : 1.0; }, 2);
  };
  EXPECT_EQ(run(Rules::kPlain).events.size(), 0U);
  const Told told = run(Rules::kBetter);
  EXPECT_THAT(told.names(), testing::ElementsAre("missing_gradient", "gradient_returned"));
  EXPECT_EQ(told.first("missing_gradient").step, 11);
  EXPECT_EQ(loops::number(told.first("missing_gradient"), "since"), 10);
  EXPECT_EQ(loops::text(told.first("missing_gradient"), "layer"), "a");
}

TEST(MissingGradient, one_that_never_came_is_told_after_a_warm_up) {
  const Told told = told_of(Rules::kBetter, 12, [](int) { return kMissing; }, 2);
  EXPECT_THAT(told.names(), testing::ElementsAre("missing_gradient"));
  EXPECT_EQ(told.first("missing_gradient").step, 7);
}

TEST(MissingGradient, a_single_step_without_is_nothing) {
  EXPECT_EQ(told_of(
                Rules::kBetter, 20, [](int i) { return i == 10 ? kMissing : 1.0; }, 2)
                .events.size(),
            0U);
}

TEST(MissingGradient, of_all_layers_is_told_as_that) {
  const Told told = told_of(Rules::kBetter, 20, [](int i) { return i == 10 ? kMissing : 1.0; });
  EXPECT_THAT(told.names(), testing::ElementsAre("no_gradients"));
}

// ---- drift

TEST(Drift, a_creeping_change_is_told) {
  for (const double factor : {1.3, 1.2, 1.05, 1 / 1.3}) {
    const auto creeping = [&](int i) { return wobble(i) * std::pow(factor, std::max(0, i - 10)); };
    const int steps = factor == 1.05 ? 300 : factor == 1.2 ? 110 : 70;
    EXPECT_EQ(told_of(Rules::kPlain, steps, creeping).events.size(), 0U) << factor;
    const Told told = told_of(Rules::kBetter, steps, creeping);
    ASSERT_GE(told.count("drift"), 1) << factor;
    const auto& drift = told.first("drift");
    EXPECT_EQ(loops::text(drift, "direction"), factor > 1 ? "up" : "down");
    EXPECT_EQ(drift.severity, monitor::Severity::kWarning);
    EXPECT_GT(std::abs(loops::number(drift, "decades")), 2);
  }
}

TEST(Drift, a_slow_fall_over_a_whole_training_is_none) {
  // Three decades over 3000 steps, as a network converges.
  const auto falling = [](int i) { return wobble(i) * std::pow(10, -i / 1000.0); };
  EXPECT_EQ(told_of(Rules::kBetter, 3000, falling).events.size(), 0U);
}

TEST(Drift, gradients_that_shrink_with_the_loss_are_no_warning) {
  Hand hand(1, {1});
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(loops::every_step(Rules::kBetter)));
  for (int i = 0; i < 100; ++i) {
    hand.set(0, std::pow(0.85, i));
    monitor.step(std::pow(0.85, i));
  }
  ASSERT_EQ(told.count("drift"), 1);
  EXPECT_EQ(told.first("drift").severity, monitor::Severity::kInfo);
  EXPECT_EQ(told.count("alarm"), 0);
}

// ---- levels learned anew

TEST(Relearn, a_level_that_stays_changed_becomes_the_baseline) {
  const auto changed = [](int i) { return wobble(i) * (i < 20 ? 1 : i < 200 ? 1e3 : 1e6); };
  const Told plain = told_of(Rules::kPlain, 230, changed);
  EXPECT_EQ(plain.count("alarm"), 1);  // open for good: the second change is never told
  const Told better = told_of(Rules::kBetter, 230, changed);
  EXPECT_THAT(better.names(), testing::ElementsAre("alarm", "baseline_relearned", "alarm"));
  const auto& relearned = better.first("baseline_relearned");
  EXPECT_EQ(relearned.step, 119);
  EXPECT_NEAR(loops::number(relearned, "new_baseline"), 1e3, 50);
}

TEST(Relearn, zero_is_never_learned) {
  const Told told = told_of(Rules::kBetter, 400, [](int i) { return i < 20 ? 1.0 : 0.0; });
  EXPECT_THAT(told.names(), testing::ElementsAre("alarm"));
}

TEST(Relearn, the_loss_too) {
  const auto changed = [](int i) { return i < 20 ? 1.0 : i < 200 ? 10.0 : 100.0; };
  EXPECT_EQ(told_of_losses(Rules::kPlain, 230, changed).count("loss_spike"), 1);
  EXPECT_THAT(told_of_losses(Rules::kBetter, 230, changed).names(),
              testing::ElementsAre("loss_spike", "loss_relearned", "loss_spike"));
}

// ---- warm-up

// A layer that explodes from the start: the plain baseline takes all of it for normal.
TEST(WarmUp, growth_within_it_is_not_taken_for_normal) {
  const auto growing = [](int i) { return std::pow(10, i); };
  EXPECT_EQ(told_of(Rules::kPlain, 14, growing).count("alarm"), 0);
  EXPECT_EQ(told_of(Rules::kBetter, 14, growing).count("alarm"), 1);
}

TEST(WarmUp, zeros_within_it_do_not_become_the_baseline) {
  const auto zeros_first = [](int i) { return i < 5 ? 0.0 : 1.0; };
  const Told plain = told_of(Rules::kPlain, 40, [](int i) { return i < 8 ? 0.0 : 1.0; });
  EXPECT_EQ(loops::text(plain.first("alarm"), "diagnosis"), "exploding");  // at a normal gradient
  EXPECT_EQ(told_of(Rules::kBetter, 40, zeros_first).events.size(), 0U);
}

TEST(WarmUp, a_few_wild_values_do_not_hide_what_comes) {
  const auto wild = [](int i) {
    return i == 3 || i == 5 || i == 7 ? 0.0 : i >= 20 ? 1e6 : wobble(i);
  };
  EXPECT_EQ(told_of(Rules::kPlain, 24, wild).count("alarm"), 0);
  EXPECT_EQ(told_of(Rules::kBetter, 24, wild).count("alarm"), 1);
}

TEST(WarmUp, a_layer_that_never_had_a_gradient_is_told_as_dead) {
  EXPECT_EQ(told_of(Rules::kPlain, 30, [](int) { return 0.0; }, 2).events.size(), 0U);
  const Told told = told_of(Rules::kBetter, 30, [](int) { return 0.0; }, 2);
  EXPECT_THAT(told.names(), testing::ElementsAre("alarm"));
  EXPECT_EQ(loops::text(told.first("alarm"), "diagnosis"), "no_gradient");
}

TEST(WarmUp, none_at_all_judges_from_the_second_check) {
  for (const Rules rules : {Rules::kPlain, Rules::kBetter}) {
    Hand hand(1, {1});
    Told told;
    auto options = loops::every_step(rules);
    options.warmup = 0;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(options));
    for (int i = 0; i < 10; ++i) {
      hand.set(0, 500);
      monitor.step(500.0);
    }
    // The plain rules compare the first checks with a norm of 1 and a loss of 0.
    EXPECT_EQ(told.events.empty(), rules == Rules::kBetter);
  }
}

// ---- the loss

TEST(Loss, a_negative_one_spikes_only_where_it_rises_by_its_own_size) {
  const auto steady = [](int i) { return i < 20 ? -2.0 : -1.99; };
  EXPECT_EQ(told_of_losses(Rules::kPlain, 24, steady).count("loss_spike"), 1);
  EXPECT_EQ(told_of_losses(Rules::kBetter, 24, steady).count("loss_spike"), 0);
  const auto rising = [](int i) { return i < 20 ? -2.0 : 3.0; };
  EXPECT_EQ(told_of_losses(Rules::kBetter, 24, rising).count("loss_spike"), 1);
}

TEST(Loss, one_around_zero_has_a_size_all_the_same) {
  const auto noise = [](int i) { return 0.01 * std::sin(2.4 * i); };
  EXPECT_EQ(told_of_losses(Rules::kBetter, 200, noise).events.size(), 0U);
  const auto spike = [&](int i) { return i == 150 ? 1.0 : noise(i); };
  EXPECT_THAT(told_of_losses(Rules::kBetter, 200, spike).names(),
              testing::ElementsAre("loss_spike", "loss_recovered"));
}

TEST(Loss, what_is_not_finite_is_critical_once_an_episode) {
  for (const Rules rules : {Rules::kPlain, Rules::kBetter}) {
    const Told told = told_of_losses(rules, 12, [](int i) {
      return i == 3 || i == 4 ? static_cast<double>(NAN) : i == 8 ? -INFINITY : 1.0;
    });
    EXPECT_EQ(told.count("nonfinite_loss"), 2);
    EXPECT_EQ(loops::text(told.events.at(0), "value"), "nan");
    EXPECT_EQ(loops::text(told.events.at(1), "value"), "-inf");
  }
}

// ---- no scaler

TEST(Nonfinite, names_the_first_parameter_and_how_many_elements) {
  Hand hand(2, {6});
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(loops::every_step(Rules::kBetter)));
  hand.set_all({1, 1});
  hand.parameter(1).grad().slice(0, 0, 5).fill_(NAN);
  monitor.step();
  const auto& event = told.first("nonfinite_gradient");
  EXPECT_EQ(event.severity, monitor::Severity::kCritical);
  EXPECT_EQ(loops::text(event, "parameter"), "b.weight");
  EXPECT_EQ(loops::number(event, "elements"), 5);
  EXPECT_EQ(loops::number(event, "of"), 6);
}

// ormas looks at one step in 50 by default, so that 49 faults in 50 pass.
TEST(EveryStep, is_looked_at_unless_told_otherwise) {
  EXPECT_EQ(monitor::Options().check_every, 1);
  EXPECT_EQ(monitor::Options::plain().check_every, 50);
  for (const bool plain : {true, false}) {
    Hand hand(1);
    Told told;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                             told.heard(plain ? monitor::Options::plain() : monitor::Options()));
    for (int i = 0; i < 50; ++i) {
      hand.set(0, i == 7 ? INFINITY : 1);
      monitor.step();
    }
    EXPECT_EQ(told.count("nonfinite_gradient"), plain ? 0 : 1);
  }
}

}  // namespace
