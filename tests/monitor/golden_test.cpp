// Every trace of ormas-monitor 0.2.3 replayed: events, their order and counts exactly, norms within
// 1e-6.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/golden_trace.hpp"

namespace {

namespace monitor = gradlab::monitor;
using traces::Json;
using traces::number;

bool near(double got, double expected, double relative) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= relative * std::abs(expected);
}

// tests/golden/README.md, Tolerances.
double tolerance(const std::string& field) {
  if (field == "baseline") return 1e-5;
  return field == "grad_norm" ? 1e-6 : 1e-7;
}

void expect_field(const monitor::Event& got, const std::string& name, const Json& expected) {
  if (name == "event") return;
  if (name == "severity") {
    EXPECT_EQ(monitor::name(got.severity), expected.get<std::string>());
    return;
  }
  const monitor::Value* value = got.find(name);
  ASSERT_NE(value, nullptr) << got.name << " has no " << name;
  if (const auto* text = std::get_if<std::string>(value)) {
    EXPECT_EQ(*text, expected.get<std::string>()) << name;
  } else if (const auto* list = std::get_if<std::vector<std::string>>(value)) {
    EXPECT_EQ(*list, expected.get<std::vector<std::string>>()) << name;
  } else if (const auto* whole = std::get_if<int64_t>(value)) {
    EXPECT_EQ(*whole, expected.get<int64_t>()) << name;
  } else {
    const double x = std::get<double>(*value);
    EXPECT_TRUE(near(x, number(expected), tolerance(name))) << name << " " << x << ", " << expected;
  }
}

void expect_events(const std::vector<monitor::Event>& got, const Json& expected, int64_t step) {
  std::vector<std::string> names, wanted;
  for (const auto& event : got) names.push_back(event.name);
  for (const Json& event : expected) wanted.push_back(event.at("event"));
  ASSERT_EQ(names, wanted);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].step, step);
    // ormas gives none to what is over.
    if (!expected[i].contains("severity")) EXPECT_EQ(got[i].severity, monitor::Severity::kInfo);
    for (const auto& [name, value] : expected[i].items()) expect_field(got[i], name, value);
    // Nothing more than the trace has, but for the message, which traces leave out.
    const auto more = std::count_if(got[i].fields.begin(), got[i].fields.end(), [&](const auto& f) {
      return f.first != "message" && !expected[i].contains(f.first);
    });
    EXPECT_EQ(more, 0) << got[i].name;
  }
}

void expect_counts(const monitor::Counts& got, const Json& expected) {
  Json left = expected;
  monitor::Counts::each(got, [&](const std::string& name, int64_t count) {
    EXPECT_EQ(count, left.value(name, int64_t{0})) << name;
    left.erase(name);
  });
  // What there is no count for (channel checks) must not have happened.
  for (const auto& [name, count] : left.items()) EXPECT_EQ(count, 0) << name;
}

void expect_norms(const monitor::LayerNorms& got, const Json& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [layer, norm] : got) {
    ASSERT_TRUE(expected.contains(layer)) << layer;
    EXPECT_TRUE(near(norm, number(expected.at(layer)), 1e-6)) << layer << " " << norm;
  }
}

class GoldenTrace : public testing::TestWithParam<traces::Trace> {};

TEST_P(GoldenTrace, is_told_as_recorded) {
  const Json& trace = GetParam().body;
  traces::Player player(trace);
  int64_t at = 0;
  for (const Json& step : trace.at("steps")) {
    SCOPED_TRACE("step " + std::to_string(at));
    const Json& expected = step.at("expect");
    const int64_t checks = player.monitor().checks();
    player.play(step);
    EXPECT_EQ(player.monitor().checks() > checks, expected.at("sampled").get<bool>());
    expect_events(player.events, expected.at("events"), at);
    expect_counts(player.monitor().counts(), expected.at("counts"));
    if (expected.at("sampled")) {
      expect_norms(player.monitor().norms(), expected.at("norms"));
      EXPECT_EQ(player.monitor().loss().has_value(), !expected.at("loss").is_null());
      if (player.monitor().loss() && !expected.at("loss").is_null()) {
        EXPECT_TRUE(near(*player.monitor().loss(), number(expected.at("loss")), 1e-7));
      }
    }
    ++at;
  }
  EXPECT_EQ(player.monitor().steps(), trace.at("final").at("steps").get<int64_t>());
  EXPECT_EQ(player.monitor().checks(), trace.at("final").at("checks").get<int64_t>());
}

// The record of the same runs: what the scaler did, beside what the trace says that it did.
TEST_P(GoldenTrace, is_recorded_step_by_step) {
  const Json& trace = GetParam().body;
  traces::Player player(trace);
  for (const Json& step : trace.at("steps")) player.play(step);
  player.monitor().close();
  ASSERT_EQ(player.records.size(), trace.at("steps").size());
  for (size_t i = 0; i < player.records.size(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    const monitor::StepRecord& record = player.records[i];
    const Json& step = trace.at("steps")[i];
    EXPECT_EQ(record.step, static_cast<int64_t>(i));
    EXPECT_EQ(record.scale.has_value(), !step.at("scale").is_null());
    if (!record.scale) continue;
    EXPECT_EQ(*record.scale, step.at("scale").get<double>());
    EXPECT_EQ(*record.scale_after, step.at("scale_after_update").get<double>());
    EXPECT_EQ(*record.skipped, step.at("found_inf").get<bool>());
  }
}

INSTANTIATE_TEST_SUITE_P(Monitor, GoldenTrace, testing::ValuesIn(traces::all()),
                         [](const auto& one) { return "trace_" + one.param.name; });

}  // namespace
