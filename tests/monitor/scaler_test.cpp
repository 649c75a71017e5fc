// What the scaler knows: true skips, each optimizer's own stage, checks that come too late, a loss
// handed in scaled. Each beside what the plain rules make of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/linear.h>

#include <cmath>

#include "gradlab/amp/amp.hpp"
#include "support/loop.hpp"

namespace {

namespace amp = gradlab::amp;
namespace monitor = gradlab::monitor;
using loops::Hand;
using loops::Told;
using monitor::Rules;

amp::GradScaler scaler_at(double scale) {
  amp::GradScalerOptions options;
  options.init_scale = scale;
  amp::GradScaler scaler(options);
  scaler.scale(torch::ones({}));
  return scaler;
}

monitor::Options with(const amp::GradScaler& scaler, Rules rules) {
  auto options = loops::every_step(rules);
  options.scaler = &scaler;
  return options;
}

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

// ---- the scale over steps

TEST(Scale, skips_in_a_row_and_the_floor_are_told) {
  for (const auto rules : {Rules::kPlain, Rules::kBetter}) {
    Hand hand(1);
    Told told;
    auto scaler = scaler_at(65536);
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(with(scaler, rules)));
    for (int i = 0; i < 45; ++i) {
      scaler.scale(torch::ones({}));
      hand.set(0, INFINITY);
      monitor.step();
      scaler.step(hand.optimizer());
      scaler.update();
    }
    EXPECT_EQ(told.count("skipped_step"), 45);
    EXPECT_EQ(told.count("skip_streak"), rules == Rules::kPlain ? 0 : 2);  // at 20 and 40
    EXPECT_EQ(told.count("scale_at_floor"), rules == Rules::kPlain ? 0 : 1);
    if (rules == Rules::kPlain) continue;
    EXPECT_EQ(told.first("scale_at_floor").step, 16);  // 65536 / 2^16 = 1
    EXPECT_EQ(told.first("scale_at_floor").severity, monitor::Severity::kCritical);
    EXPECT_EQ(loops::number(told.first("skip_streak"), "streak"), 20);
  }
}

TEST(Scale, the_search_for_a_scale_at_the_start_is_no_warning) {
  Hand hand(1);
  Told told;
  auto scaler = scaler_at(65536);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(with(scaler, Rules::kBetter)));
  for (int i = 0; i < 30; ++i) {
    scaler.scale(torch::ones({}));
    hand.set(0, i < 10 ? INFINITY : 1);
    monitor.step();
    scaler.step(hand.optimizer());
    scaler.update();
  }
  for (const auto& event : told.events) EXPECT_EQ(event.severity, monitor::Severity::kInfo);
  EXPECT_EQ(told.count("skipped_step"), 10);
}

TEST(Scale, one_that_is_no_positive_number_is_critical) {
  for (const double scale : std::initializer_list<double>{0, -4, NAN, INFINITY}) {
    Hand hand(1);
    Told told;
    auto scaler = scaler_at(8);
    monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                             told.heard(with(scaler, Rules::kBetter)));
    for (int i = 0; i < 3; ++i) {
      scaler.update(scale);
      scaler.scale(torch::ones({}));
      hand.set(0, 1);
      monitor.step(1.0);
    }
    EXPECT_EQ(told.count("bad_scale"), 1) << scale;
    EXPECT_EQ(told.first("bad_scale").severity, monitor::Severity::kCritical);
    EXPECT_EQ(monitor.counts().errors, 0);
  }
}

// ---- float16's small numbers

TEST(Underflow, gradients_on_their_way_to_zero_are_told) {
  for (const double element : {1e-5, 1e-3}) {  // subnormal in float16 below 6.1e-5
    Hand hand(1, {100});
    Told told;
    auto scaler = scaler_at(1);
    monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                             told.heard(with(scaler, Rules::kBetter)));
    hand.set(0, element);
    hand.parameter(0).grad().slice(0, 0, 60).zero_();
    monitor.step();
    ASSERT_EQ(told.count("underflow"), element < 1e-4 ? 1 : 0);
    if (element > 1e-4) continue;
    EXPECT_NEAR(loops::number(told.first("underflow"), "zero_share"), 0.6, 1e-9);
    EXPECT_NEAR(loops::number(told.first("underflow"), "subnormal_share"), 0.4, 1e-9);
  }
}

// Zeros alone are a dead unit, not underflow.
TEST(Underflow, zeros_alone_are_not) {
  Hand hand(1, {100});
  Told told;
  auto scaler = scaler_at(1);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(with(scaler, Rules::kBetter)));
  hand.set(0, 1);
  hand.parameter(0).grad().slice(0, 0, 90).zero_();
  monitor.step();
  EXPECT_EQ(told.count("underflow"), 0);
}

// A true float16 layer at too low a scale, and at a good one.
TEST(Underflow, shows_in_a_float16_network_at_a_low_scale) {
  for (const double scale : {1.0, 65536.0}) {
    torch::manual_seed(5);
    torch::nn::Linear net(32, 8);
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.0));
    Told told;
    auto scaler = scaler_at(scale);
    monitor::Monitor monitor(net, optimizer, told.heard(with(scaler, Rules::kBetter)));
    torch::Tensor loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      const auto out = net->forward(torch::randn({16, 32}));
      loss = (out * 1e-2).to(torch::kFloat).square().mean();
    }
    scaler.scale(loss).backward();
    monitor.step(loss);
    EXPECT_EQ(told.count("underflow"), scale == 1 ? 1 : 0);
  }
}

// ---- clipping

TEST(Clipping, norms_are_those_before_it_wherever_the_check_is) {
  for (const bool clip_first : {false, true}) {
    for (const bool fused : {false, true}) {
      if (fused && !clip_first) continue;
      Hand hand(1, {4});
      Told told;
      auto scaler = scaler_at(16);
      monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                               told.heard(with(scaler, Rules::kBetter)));
      for (int i = 0; i < 3; ++i) {
        scaler.scale(torch::ones({}));
        hand.set(0, 16.0 * (i + 1));  // norm 2 (i + 1)
        if (fused) {
          amp::unscale_and_clip_(scaler, hand.optimizer(), 4.5);
        } else {
          scaler.unscale_(hand.optimizer());
          if (!clip_first) monitor.step();
          amp::clip_grad_norm_({hand.parameter(0)}, 4.5);
        }
        if (clip_first) monitor.step();
        scaler.step(hand.optimizer());
        scaler.update();
      }
      ASSERT_EQ(told.records.size(), 3U);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(*told.records[i].norm, 2.0 * static_cast<double>(i + 1), 1e-5);
        EXPECT_EQ(told.records[i].clipped, i == 2);
        EXPECT_EQ(told.records[i].max_norm, 4.5);
      }
    }
  }
}

TEST(Clipping, without_a_scaler_it_belongs_to_its_own_step) {
  for (const bool clip_first : {false, true}) {
    Hand hand(1, {4});
    Told told;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                             told.heard(loops::every_step(Rules::kBetter)));
    for (int i = 0; i < 3; ++i) {
      hand.set(0, i + 1);
      if (!clip_first) monitor.step();
      amp::clip_grad_norm_({hand.parameter(0)}, 3);
      if (clip_first) monitor.step();
    }
    monitor.close();
    ASSERT_EQ(told.records.size(), 3U);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(*told.records[i].norm, 2.0 * static_cast<double>(i + 1), 1e-5);
      EXPECT_EQ(told.records[i].clipped, i >= 1) << i;
    }
  }
}

TEST(Clipping, is_not_known_where_nobody_tells) {
  Hand hand(1);
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(loops::every_step(Rules::kBetter)));
  hand.set(0, 1);
  monitor.step();
  monitor.close();
  EXPECT_EQ(told.records.at(0).clipped, std::nullopt);
}

}  // namespace
