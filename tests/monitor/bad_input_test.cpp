// Wrong arguments are refused at construction, with a message that says what to do; what is wrong
// in a running loop is told as an event, and the loop goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <limits>

#include "support/loop.hpp"

namespace {

namespace amp = gradlab::amp;
namespace monitor = gradlab::monitor;
using loops::Hand;
using loops::Told;
using monitor::ErrorKind;
using monitor::Rules;
using testing::HasSubstr;

// The kind and message of what `make` throws; "none" where it returns.
template <typename Make>
std::string refused(const Make& make) {
  try {
    make();
    return "none";
  } catch (const monitor::Error& error) {
    return std::string(monitor::name(error.kind())) + ": " + error.what();
  }
}

// ---- construction

TEST(Refuses, a_model_without_parameters) {
  torch::nn::Sequential empty;
  EXPECT_THAT(refused([&] { monitor::Monitor(empty, monitor::Options()); }),
              HasSubstr("no_parameters: The model has no parameter"));
  torch::nn::Linear frozen(2, 2);
  for (auto& parameter : frozen->parameters()) parameter.set_requires_grad(false);
  EXPECT_THAT(refused([&] { monitor::Monitor(frozen, monitor::Options()); }),
              HasSubstr("no_parameters"));
  const std::vector<monitor::Layer> undefined = {{"a", "Linear", {{"weight", {}}}}};
  EXPECT_THAT(refused([&] { monitor::Monitor(undefined, monitor::Options()); }),
              HasSubstr("'a.weight' is an undefined tensor"));
}

TEST(Refuses, a_scaler_without_an_optimizer) {
  Hand hand(1);
  const amp::GradScaler scaler;
  monitor::Options options;
  options.scaler = &scaler;
  EXPECT_THAT(refused([&] { monitor::Monitor(hand.layers(), options); }),
              HasSubstr("scaler_without_optimizer"));
  EXPECT_THAT(refused([&] { monitor::Monitor(hand.layers(), {nullptr}, options); }),
              HasSubstr("null_optimizer: Optimizer 0"));
}

// What is no scaler does not compile.
struct NoScaler {
  double get_scale() const { return 1; }
};
static_assert(!std::is_assignable_v<decltype(monitor::Options::scaler)&, NoScaler*>);
static_assert(std::is_assignable_v<decltype(monitor::Options::scaler)&, amp::GradScaler*>);
static_assert(!std::is_constructible_v<monitor::Monitor, int, monitor::Options>);

TEST(Refuses, options_out_of_range_and_names_them) {
  Hand hand(1);
  const auto message = [&](const auto& change) {
    monitor::Options options;
    change(options);
    return refused([&] { monitor::Monitor(hand.layers(), hand.optimizer(), options); });
  };
  using monitor::Options;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message([](Options&) {}), "none");
  EXPECT_EQ(message([](Options& o) { o.sigma = INFINITY; }), "none");
  EXPECT_EQ(message([](Options& o) { o.check_every = 0; }),
            "bad_option: Options::check_every is 0. It may be a whole number from 1.");
  EXPECT_THAT(message([](Options& o) { o.warmup = -1; }), HasSubstr("warmup is -1"));
  EXPECT_THAT(message([&](Options& o) { o.sigma = nan; }), HasSubstr("sigma is nan"));
  EXPECT_THAT(message([](Options& o) { o.sigma = 0; }), HasSubstr("sigma is 0"));
  EXPECT_THAT(message([](Options& o) { o.baseline_rate_floor = 1.5; }), HasSubstr("rate_floor"));
  EXPECT_THAT(message([&](Options& o) { o.alarm_min_decades = nan; }), HasSubstr("min_decades"));
  EXPECT_THAT(message([](Options& o) { o.alarm_confirmations = 0; }), HasSubstr("confirmations"));
  EXPECT_THAT(message([](Options& o) { o.loss_spike_factor = 0.5; }), HasSubstr("spike_factor"));
  EXPECT_THAT(message([](Options& o) { o.layer_list_limit = 0; }), HasSubstr("list_limit"));
  EXPECT_THAT(message([](Options& o) { o.alarm_max_decades = 0.5; }), HasSubstr("max_decades"));
  EXPECT_THAT(message([](Options& o) { o.loss_sigma = -1; }), HasSubstr("loss_sigma"));
  EXPECT_THAT(message([](Options& o) { o.drift_decades = 0; }), HasSubstr("drift_decades"));
  EXPECT_THAT(message([](Options& o) { o.drift_rate = 1; }), HasSubstr("drift_rate"));
  EXPECT_THAT(message([](Options& o) { o.relearn_after = -1; }), HasSubstr("relearn_after"));
  EXPECT_THAT(message([](Options& o) { o.skip_streak = 0; }), HasSubstr("skip_streak"));
  EXPECT_THAT(message([](Options& o) { o.scale_floor = 0; }), HasSubstr("scale_floor"));
  EXPECT_THAT(message([](Options& o) { o.underflow_every = -1; }), HasSubstr("underflow_every"));
  EXPECT_THAT(message([](Options& o) { o.underflow_share = 2; }), HasSubstr("underflow_share"));
  EXPECT_THAT(message([](Options& o) { o.layers_every = -2; }), HasSubstr("layers_every"));
  EXPECT_THAT(message([](Options& o) { o.layers = {"a", "x*"}; }),
              HasSubstr("no_layer_matches: Options::layers: no layer's name matches 'x*'"));
}

TEST(Layers, are_chosen_by_pattern) {
  torch::nn::Sequential net(torch::nn::Linear(2, 2), torch::nn::Linear(2, 2),
                            torch::nn::Linear(2, 2));
  for (auto& parameter : net->parameters()) {
    parameter.mutable_grad() = torch::ones_like(parameter.detach());
  }
  const auto watched = [&](const std::vector<std::string>& patterns) {
    monitor::Options options;
    options.layers = patterns;
    monitor::Monitor monitor(net, options);
    monitor.step();
    std::vector<std::string> names;
    for (const auto& [name, norm] : monitor.norms()) names.push_back(name);
    return names;
  };
  EXPECT_THAT(watched({}), testing::ElementsAre("0", "1", "2"));
  EXPECT_THAT(watched({"1"}), testing::ElementsAre("1"));
  EXPECT_THAT(watched({"?"}), testing::ElementsAre("0", "1", "2"));
  EXPECT_THAT(watched({"2", "*0*"}), testing::ElementsAre("0", "2"));
}

TEST(Layers, a_module_registered_twice_is_one_and_kinds_are_named) {
  torch::nn::Linear shared(2, 2);
  torch::nn::Sequential net(shared, shared, torch::nn::Linear(2, 3));
  const auto layers = monitor::layers_of(*net);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].name, "0");
  EXPECT_EQ(layers[1].name, "2");
  EXPECT_EQ(layers[1].kind, "Linear");
}

// ---- a running loop

TEST(BadLoss, each_kind_is_taken_or_told_and_the_loop_goes_on) {
  for (const Rules rules : {Rules::kPlain, Rules::kBetter}) {
    Hand hand(1);
    Told told;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(loops::every_step(rules)));
    hand.set(0, 1);
    const auto loss_of = [&](const torch::Tensor& loss) {
      monitor.step(loss);
      return monitor.loss();
    };
    EXPECT_EQ(loss_of({}), std::nullopt);
    EXPECT_EQ(loss_of(torch::empty({0})), std::nullopt);
    EXPECT_EQ(loss_of(torch::tensor(3, torch::kLong)), 3.0);
    EXPECT_EQ(loss_of(torch::tensor(true)), 1.0);
    EXPECT_EQ(loss_of(torch::tensor({1.0F, 3.0F})), 2.0);
    EXPECT_EQ(loss_of(torch::tensor({2, 4}, torch::kLong)), 3.0);
    EXPECT_EQ(loss_of(torch::ones({1, 1}, torch::kHalf)), 1.0);
    EXPECT_EQ(loss_of(torch::ones({}, torch::kComplexFloat)), std::nullopt);
    EXPECT_EQ(loss_of(torch::ones({2}, torch::kComplexFloat)), std::nullopt);
    EXPECT_EQ(monitor.checks(), 9);
    EXPECT_THAT(told.names(), testing::ElementsAre("loss_reduced", "bad_loss"));
    EXPECT_EQ(monitor.counts().errors, 0);
  }
}

TEST(Loop, a_fault_inside_becomes_an_event) {
  Hand hand(1);
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(),
                           told.heard(loops::every_step(Rules::kBetter)));
  hand.set(0, 1);
  monitor.step(torch::empty({2}, torch::kMeta));  // a loss that cannot be read
  ASSERT_EQ(told.count("monitor_error"), 1);
  EXPECT_EQ(monitor.counts().errors, 1);
  monitor.step(1.0);
  EXPECT_EQ(monitor.checks(), 1);
}

TEST(Loop, without_any_gradient_it_is_told_once) {
  for (const Rules rules : {Rules::kPlain, Rules::kBetter}) {
    Hand hand(2);
    Told told;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(loops::every_step(rules)));
    for (int i = 0; i < 20; ++i) monitor.step();
    EXPECT_THAT(told.names(), testing::ElementsAre("no_gradients"));
    EXPECT_EQ(monitor.counts().checks_without_gradients, 20);
  }
}

TEST(Loop, a_step_after_close_is_told_and_nothing_else) {
  Hand hand(1);
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard({}));
  monitor.close();
  monitor.close();
  monitor.step();
  monitor.step();
  EXPECT_THAT(told.names(), testing::ElementsAre("step_after_close"));
  EXPECT_EQ(monitor.steps(), 0);
}

TEST(Loop, a_disabled_scaler_or_one_not_used_yet_is_none) {
  amp::GradScalerOptions off;
  off.enabled = false;
  const amp::GradScaler disabled(off), unused;
  for (const auto* scaler : {&disabled, &unused}) {
    for (const Rules rules : {Rules::kPlain, Rules::kBetter}) {
      Hand hand(1);
      Told told;
      auto options = loops::every_step(rules);
      options.scaler = scaler;
      monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(options));
      hand.set(0, INFINITY);
      monitor.step();
      EXPECT_THAT(told.names(), testing::ElementsAre("nonfinite_gradient"));
    }
  }
}

TEST(Loop, a_bfloat16_model_is_the_plain_loop) {
  Hand hand(1, {4}, torch::kBFloat16);
  Told told;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard({}));
  hand.set(0, 2);
  monitor.step(1.0);
  monitor.close();
  EXPECT_EQ(monitor.norms().at(0).second, 4);
  EXPECT_EQ(told.records.at(0).scale, std::nullopt);
  EXPECT_EQ(told.records.at(0).skipped, false);
}

}  // namespace
