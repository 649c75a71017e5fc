// A monitor's state beside a checkpoint: a run resumed is told as one that was never interrupted.
#include "gradlab/monitor/state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/serialize/archive.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/loop.hpp"

namespace {

namespace amp = gradlab::amp;
namespace monitor = gradlab::monitor;
using loops::Hand;
using loops::Told;
using monitor::Rules;

// 90 steps with an alarm, a drift, a loss spike, zeros and a missing gradient in them.
double norm_at(int i) {
  if (i >= 14 && i < 17) return 1000;
  if (i >= 40) return std::pow(1.3, i - 40);
  return i == 25 ? 0 : 1 + 0.1 * std::sin(2.4 * i);
}

void play(monitor::Monitor& monitor, Hand& hand, int from, int to) {
  for (int i = from; i < to; ++i) {
    hand.set_all({norm_at(i), i >= 20 && i < 30 ? NAN : 1.0});
    monitor.step(i == 22 || i == 23 ? 50.0 : 1.0);
  }
}

std::vector<std::string> shown(const std::vector<monitor::Event>& events) {
  std::vector<std::string> all;
  for (const auto& event : events) {
    std::string one = event.name + "@" + std::to_string(event.step);
    for (const auto& [name, value] : event.fields) {
      if (const auto* x = std::get_if<double>(&value)) one += " " + std::to_string(*x);
    }
    all.push_back(one);
  }
  return all;
}

class Resume : public testing::TestWithParam<Rules> {};

TEST_P(Resume, at_any_step_tells_the_same) {
  constexpr int kSteps = 90;
  Hand hand(2, {1});
  Told whole;
  monitor::Monitor uncut(hand.layers(), hand.optimizer(),
                         whole.heard(loops::every_step(GetParam())));
  play(uncut, hand, 0, kSteps);
  ASSERT_GE(whole.events.size(), 4U);
  for (int cut = 1; cut < kSteps; cut += 4) {
    Told parts;
    monitor::Monitor first(hand.layers(), hand.optimizer(),
                           parts.heard(loops::every_step(GetParam())));
    play(first, hand, 0, cut);
    monitor::Monitor second(hand.layers(), hand.optimizer(),
                            parts.heard(loops::every_step(GetParam())));
    second.load_state(first.state());
    EXPECT_EQ(second.state(), first.state());
    play(second, hand, cut, kSteps);
    EXPECT_EQ(shown(parts.events), shown(whole.events)) << "cut before step " << cut;
    EXPECT_EQ(second.state(), uncut.state());
    EXPECT_EQ(second.counts().alarms, uncut.counts().alarms);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, Resume, testing::Values(Rules::kPlain, Rules::kBetter),
                         [](const auto& one) {
                           return one.param == Rules::kPlain ? "plain" : "better";
                         });

TEST(State, is_a_json_object_of_numbers) {
  Hand hand(1);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), monitor::Options());
  hand.set(0, 1);
  monitor.step(1.0);
  const auto json = nlohmann::json::parse(monitor.state());
  EXPECT_EQ(json.at("gradlab_monitor"), 1);
  EXPECT_EQ(json.at("steps"), 1);
}

TEST(State, keeps_names_that_json_escapes) {
  const auto weight = torch::ones({1}).set_requires_grad(true);
  const std::vector<monitor::Layer> layers = {{"a \"b\"\\", "Linear", {{"weight", weight}}}};
  weight.mutable_grad() = torch::ones({1});
  monitor::Monitor first(layers, monitor::Options()), second(layers, monitor::Options());
  for (int i = 0; i < 12; ++i) first.step();
  second.load_state(first.state());
  EXPECT_EQ(second.state(), first.state());
}

TEST(State, goes_through_an_archive_with_other_things) {
  Hand hand(1);
  monitor::Monitor first(hand.layers(), hand.optimizer(), monitor::Options());
  monitor::Monitor second(hand.layers(), hand.optimizer(), monitor::Options());
  hand.set(0, 1);
  for (int i = 0; i < 10; ++i) first.step(1.0);
  torch::serialize::OutputArchive out;
  out.write("more", torch::ones({2}));
  out << first;
  std::stringstream file;
  out.save_to(file);
  torch::serialize::InputArchive in;
  in.load_from(file);
  in >> second;
  EXPECT_EQ(second.state(), first.state());
  torch::serialize::InputArchive empty;
  EXPECT_THROW(empty >> second, monitor::Error);
}

TEST(State, of_another_kind_is_refused_and_changes_nothing) {
  Hand hand(1);
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), monitor::Options());
  hand.set(0, 1);
  for (int i = 0; i < 10; ++i) monitor.step(1.0);
  const std::string good = monitor.state();
  monitor::Monitor plain(hand.layers(), hand.optimizer(), monitor::Options::plain());
  const std::vector<std::string> wrong = {"",
                                          "{}",
                                          "[1]",
                                          good.substr(0, good.size() / 2),
                                          "{\"gradlab_monitor\":1,\"steps\":\"many\"}",
                                          "{\"gradlab_monitor\":2}",
                                          plain.state()};
  for (const std::string& text : wrong) {
    try {
      monitor.load_state(text);
      ADD_FAILURE() << "took " << text;
    } catch (const monitor::Error& error) {
      EXPECT_EQ(error.kind(), monitor::ErrorKind::kBadState);
    }
    EXPECT_EQ(monitor.state(), good);
  }
}

TEST(State, of_another_model_leaves_its_own_layers_new) {
  Hand two(2), one(1);
  monitor::Monitor first(one.layers(), one.optimizer(), monitor::Options());
  one.set(0, 1);
  for (int i = 0; i < 10; ++i) first.step();
  monitor::Monitor second(two.layers(), two.optimizer(), monitor::Options());
  second.load_state(first.state());
  two.set_all({1, 1});
  for (int i = 0; i < 10; ++i) second.step();
  EXPECT_EQ(second.steps(), 20);
  EXPECT_TRUE(second.alarms().empty());
}

}  // namespace
