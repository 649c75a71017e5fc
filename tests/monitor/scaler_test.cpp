// What the scaler knows: true skips, each optimizer's own stage, checks that come too late, a loss
// handed in scaled. Each beside what the plain rules make of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradlab/amp/amp.hpp"
#include "support/loop.hpp"

namespace {

namespace amp = gradlab::amp;
namespace monitor = gradlab::monitor;
using loops::Hand;
using loops::scaler_at;
using loops::Told;
using loops::with;
using monitor::Rules;

// ---- skips

// The squares overflow float32, the gradients don't: the scaler steps.
TEST(Skips, a_norm_that_overflows_is_no_skip) {
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    for (const bool unscale : {false, true}) {
      Hand hand(1);
      Told told;
      auto scaler = scaler_at(2);
      monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(with(scaler, rules)));
      hand.set(0, 1e25);
      if (unscale) scaler.unscale_(hand.optimizer());
      monitor.step();
      EXPECT_TRUE(scaler.step(hand.optimizer()));
      scaler.update();
      EXPECT_EQ(told.count("skipped_step"), rules == Rules::kPlain ? 1 : 0);
      EXPECT_EQ(told.records.at(0).skipped, false);
    }
  }
}

// The overflow is in a parameter that belongs to no monitored layer.
TEST(Skips, a_skip_from_an_unmonitored_parameter_is_told) {
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    for (const bool unscale : {false, true}) {
      Hand hand(2);
      Told told;
      auto scaler = scaler_at(8);
      auto options = with(scaler, rules);
      options.layers = {"a"};
      monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(options));
      hand.set_all({1, INFINITY});
      if (unscale) scaler.unscale_(hand.optimizer());
      monitor.step();
      scaler.step(hand.optimizer());
      scaler.update();
      EXPECT_EQ(told.count("skipped_step"), rules == Rules::kPlain ? 0 : 1);
      EXPECT_EQ(told.records.at(0).skipped, true);
      if (rules == Rules::kPlain) continue;
      EXPECT_EQ(loops::text(told.first("skipped_step"), "parameter"), "b.weight");
      EXPECT_EQ(loops::number(told.first("skipped_step"), "elements"), 4);
    }
  }
}

TEST(Skips, the_first_offender_is_named_with_its_count) {
  Hand hand(2);
  Told told;
  auto scaler = scaler_at(8);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(with(scaler, Rules::kBetter)));
  hand.set_all({1, 1});
  hand.parameter(1).grad()[2] = NAN;
  hand.parameter(1).grad()[3] = INFINITY;
  monitor.step();
  const auto& skip = told.first("skipped_step");
  EXPECT_EQ(skip.severity, monitor::Severity::kInfo);
  EXPECT_EQ(loops::text(skip, "parameter"), "b.weight");
  EXPECT_EQ(loops::number(skip, "elements"), 2);
  EXPECT_EQ(loops::number(skip, "of"), 4);
  EXPECT_EQ(loops::number(skip, "scale"), 8);
}

// With check_every 2 an overflow at an odd step is not looked at; the scaler's skip is told.
TEST(Skips, a_skip_at_a_step_that_is_not_checked_is_told) {
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    Hand hand(1);
    Told told;
    auto scaler = scaler_at(8);
    auto options = with(scaler, rules);
    options.check_every = 2;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(options));
    for (int i = 0; i < 2; ++i) {
      scaler.scale(torch::ones({}));
      hand.set(0, i == 0 ? 1 : INFINITY);
      monitor.step();
      scaler.step(hand.optimizer());
      scaler.update();
    }
    EXPECT_EQ(told.count("skipped_step"), rules == Rules::kPlain ? 0 : 1);
    EXPECT_EQ(monitor.counts().skipped_steps, rules == Rules::kPlain ? 0 : 1);
  }
}

TEST(Skips, no_baseline_moves) {
  Hand hand(1);
  Told told;
  auto scaler = scaler_at(1);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(with(scaler, Rules::kBetter)));
  const auto one = [&](double gradient) {
    scaler.scale(torch::ones({}));
    hand.set(0, gradient);
    monitor.step(2.0);
    scaler.step(hand.optimizer());
    scaler.update();
    scaler.update(1.0);
  };
  for (int i = 0; i < 10; ++i) one(1);
  const std::string before = monitor.state();
  one(INFINITY);
  const auto layers_of = [](const std::string& state) {
    return state.substr(state.find("\"loss/"));
  };
  EXPECT_EQ(layers_of(monitor.state()), layers_of(before));
  EXPECT_TRUE(monitor.alarms().empty());
}

// A clip or penalty between the check and the step makes NaN, and the scaler looks once more.
TEST(Skips, a_skip_for_what_came_after_the_check_is_told) {
  Hand hand(1);
  Told told;
  amp::GradScalerOptions rechecking;
  rechecking.recheck_after_unscale = true;
  amp::GradScaler scaler(rechecking);
  scaler.scale(torch::ones({}));
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(with(scaler, Rules::kBetter)));
  hand.set(0, 1);
  scaler.unscale_(hand.optimizer());
  monitor.step();
  hand.parameter(0).grad()[0] = NAN;
  EXPECT_FALSE(scaler.step(hand.optimizer()));
  scaler.update();
  EXPECT_EQ(told.records.at(0).skipped, true);
  ASSERT_EQ(told.count("skipped_step"), 1);
  EXPECT_THAT(loops::text(told.first("skipped_step"), "message"), testing::HasSubstr("after it"));
}

// ---- two optimizers

struct Two {
  Two() : a({hand.parameter(0)}, 0.0), b({hand.parameter(1)}, 0.0) {}
  Hand hand{2};
  torch::optim::SGD a, b;
};

// One is unscaled, the other not yet: each layer is divided by what its own gradients carry.
TEST(TwoOptimizers, each_has_its_own_stage) {
  Two two;
  auto scaler = scaler_at(8);
  const std::vector<torch::optim::Optimizer*> both = {&two.a, &two.b};
  monitor::Monitor plain(two.hand.layers(), both, with(scaler, Rules::kPlain));
  monitor::Monitor better(two.hand.layers(), both, with(scaler, Rules::kBetter));
  two.hand.set_all({8, 8});
  scaler.unscale_(two.a);
  plain.step();
  better.step();
  EXPECT_DOUBLE_EQ(plain.norms()[1].second, 16);  // 8 times too large
  EXPECT_DOUBLE_EQ(better.norms()[0].second, 2);
  EXPECT_DOUBLE_EQ(better.norms()[1].second, 2);
}

TEST(TwoOptimizers, a_skip_of_one_leaves_the_other_watched) {
  Two two;
  Told told;
  auto scaler = scaler_at(1);
  monitor::Monitor monitor(two.hand.layers(), {&two.a, &two.b},
                           told.heard(with(scaler, Rules::kBetter)));
  for (int i = 0; i < 14; ++i) {
    scaler.update(1.0);
    scaler.scale(torch::ones({}));
    two.hand.set_all({i < 10 ? 1.0 : 1e6, i < 10 ? 1.0 : INFINITY});
    monitor.step();
    scaler.step(two.a);
    scaler.step(two.b);
    scaler.update();
  }
  EXPECT_EQ(told.count("skipped_step"), 4);
  EXPECT_EQ(std::get<std::vector<std::string>>(*told.first("skipped_step").find("optimizers")),
            std::vector<std::string>{"1"});
  ASSERT_EQ(told.count("alarm"), 1);
  EXPECT_EQ(loops::text(told.first("alarm"), "layer"), "a");
  EXPECT_EQ(told.count("nonfinite_gradient"), 0);
}

TEST(TwoOptimizers, one_that_the_monitor_does_not_know_is_noticed) {
  Two two;
  Told told;
  auto scaler = scaler_at(8);
  monitor::Monitor monitor(two.hand.layers(), two.a, told.heard(with(scaler, Rules::kBetter)));
  two.hand.set_all({8, 8});
  scaler.unscale_(two.a);
  EXPECT_EQ(told.count("unknown_optimizer"), 0);
  scaler.unscale_(two.b);
  EXPECT_EQ(told.count("unknown_optimizer"), 1);
}

// ---- too late

enum class Place { kBeforeStep, kAfterStep, kAfterUpdate };

std::pair<Told, double> checked_at(Place place, Rules rules) {
  Hand hand(1, {1});
  Told told;
  auto scaler = scaler_at(1024);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(with(scaler, rules)));
  for (int i = 0; i < 3; ++i) {
    scaler.scale(torch::ones({}));
    hand.set(0, 1024);
    if (place == Place::kBeforeStep) monitor.step();
    scaler.step(hand.optimizer());
    if (place == Place::kAfterStep) monitor.step();
    scaler.update();
    if (place == Place::kAfterUpdate) monitor.step();
  }
  const double norm = monitor.norms().empty() ? NAN : monitor.norms()[0].second;
  monitor.close();
  return {told, norm};
}

TEST(LateCheck, is_refused_and_said_once) {
  for (const Place place : {Place::kAfterStep, Place::kAfterUpdate}) {
    // Already unscaled, divided once more: 1024 times too small, silently.
    EXPECT_EQ(checked_at(place, Rules::kPlain).second, 1.0 / 1024);
    const auto [told, norm] = checked_at(place, Rules::kBetter);
    EXPECT_EQ(told.count("late_check"), 1);
    EXPECT_TRUE(std::isnan(norm));
    EXPECT_THAT(loops::text(told.first("late_check"), "message"),
                testing::HasSubstr("before scaler.step()"));
    for (const auto& record : told.records) EXPECT_FALSE(record.norm);
  }
  EXPECT_EQ(checked_at(Place::kBeforeStep, Rules::kBetter).second, 1);
  EXPECT_EQ(checked_at(Place::kBeforeStep, Rules::kBetter).first.count("late_check"), 0);
}

// What the record says of such steps is true all the same, or not said.
TEST(LateCheck, skips_are_recorded_where_they_were) {
  for (const Place place : {Place::kAfterStep, Place::kAfterUpdate}) {
    Hand hand(1, {1});
    Told told;
    auto scaler = scaler_at(1024);
    monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                             told.heard(with(scaler, Rules::kBetter)));
    for (int i = 0; i < 4; ++i) {
      scaler.scale(torch::ones({}));
      hand.set(0, i == 2 ? INFINITY : 1024);
      scaler.step(hand.optimizer());
      if (place == Place::kAfterStep) monitor.step(1.0);
      scaler.update();
      if (place == Place::kAfterUpdate) monitor.step(1.0);
    }
    monitor.close();
    ASSERT_EQ(told.records.size(), 4U);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(told.records[i].skipped, i == 2) << i;
      EXPECT_EQ(told.records[i].scale_after, i < 2 ? 1024 : 512) << i;
      if (place == Place::kAfterUpdate) {
        EXPECT_FALSE(told.records[i].scale);
      } else {
        EXPECT_EQ(told.records[i].scale, i < 3 ? 1024 : 512);
      }
    }
    EXPECT_EQ(told.count("skipped_step"), 1);
  }
}

// ---- the loss

TEST(ScaledLoss, is_recognised_divided_and_noted_once) {
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    Hand hand(1);
    Told told;
    auto scaler = scaler_at(1024);
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(with(scaler, rules)));
    for (int i = 0; i < 20; ++i) {
      const auto loss = torch::tensor(2.0F + 0.01F * static_cast<float>(i));
      const auto scaled = scaler.scale(loss);
      hand.set(0, 1);
      monitor.step(scaled);
      scaler.step(hand.optimizer());
      scaler.update();
      if (i == 12) scaler.update(2048.0);
    }
    EXPECT_EQ(told.count("loss_spike"), rules == Rules::kPlain ? 1 : 0);
    EXPECT_EQ(told.count("loss_was_scaled"), rules == Rules::kPlain ? 0 : 1);
    EXPECT_NEAR(*told.records.at(3).loss, rules == Rules::kPlain ? 2.03 * 1024 : 2.03, 1e-3);
  }
}

TEST(ScaledLoss, the_sum_of_a_window_and_a_plain_number_too) {
  Hand hand(1);
  Told told;
  auto scaler = scaler_at(512);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(with(scaler, Rules::kBetter)));
  const auto first = scaler.scale(torch::tensor(1.0F)), second = scaler.scale(torch::tensor(3.0F));
  hand.set(0, 1);
  monitor.step((first + second).item<double>());
  EXPECT_EQ(monitor.loss(), 4.0);
}

TEST(ScaledLoss, an_unscaled_loss_is_left_alone) {
  Hand hand(1);
  Told told;
  auto scaler = scaler_at(512);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(with(scaler, Rules::kBetter)));
  for (const float value : {0.0F, 1.0F, 700.0F, -3.0F}) {
    const auto loss = torch::tensor(value);
    scaler.scale(loss);
    hand.set(0, 1);
    monitor.step(loss);
    EXPECT_EQ(monitor.loss(), value);
    scaler.step(hand.optimizer());
    scaler.update();
  }
  EXPECT_EQ(told.count("loss_was_scaled"), 0);
}

}  // namespace
