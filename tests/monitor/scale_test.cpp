// The scale over steps, what float16 loses at it, and norms beside clipping. Each beside what the
// plain rules make of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

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
