// event_log.1: the record as a line of strict JSON.
#include <fmt/format.h>

#include <cmath>

#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::event_log_checks;

struct Line {
  int64_t step = 0;
  double loss = 2;
  std::optional<double> scale = 64;
  std::optional<double> scale_after = 64;
  double norm = 5;
  bool clipped = false;
  bool skipped = false;
  double lr = 0.5;
  bool negative_nan = false;
};

Case case_of(const Line& line) {
  Case in;
  if (line.scale) in.number("scale", *line.scale);
  if (line.scale_after) in.number("scale_after", *line.scale_after);
  if (line.negative_nan) in.integer("negative_nan", 1);
  return in.integer("step", line.step)
      .number("loss", line.loss)
      .number("norm", line.norm)
      .integer("clipped", line.clipped ? 1 : 0)
      .integer("skipped", line.skipped ? 1 : 0)
      .number("lr", line.lr);
}

// As the experiment writes a value that it has read back.
std::string in_words(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return fmt::format("{}", value);
}
std::string in_words(bool value) { return value ? "true" : "false"; }

void expect_field(const Run& run, const std::string& name, const std::string& value) {
  EXPECT_THAT(run.got, Word(name + "_in_the_line", value));
}

void expect_json(const Run& run) { EXPECT_THAT(run.got, Word("the_line", "a JSON object")); }

void expect_numbers(const Run& run) {
  expect_json(run);
  for (const std::string name : {"loss", "norm", "lr"}) {
    expect_field(run, name, in_words(run.in.number(name)));
  }
}

TEST_F(EventLog, task1_a_line_holds_every_field) {
  std::vector<Case> cases{
      case_of({}),
      case_of({.step = 12, .loss = 0.25, .scale = 128, .clipped = true, .lr = 0.125}),
      case_of({.step = 3, .loss = 1.5, .scale_after = 32, .skipped = true}),
  };
  cases.push_back(case_of({.step = random().integer(1, 99999),
                           .loss = draw_losses(random(), 1).front(),
                           .scale = 1024,
                           .scale_after = 2048,
                           .clipped = random().chance(0.5)}));
  const auto got = subject().observe("written_line", cases);
  for (const auto& run : together(cases, got, got)) {
    expect_numbers(run);
    expect_field(run, "event", "\"step\"");
    expect_field(run, "step", in_words(static_cast<double>(run.in.integer("step"))));
    expect_field(run, "scale", in_words(run.in.number("scale")));
    expect_field(run, "scale_after", in_words(run.in.number("scale_after")));
    for (const std::string name : {"clipped", "skipped"}) {
      expect_field(run, name, in_words(run.in.integer(name) == 1));
    }
  }
}

// Digits beyond the sixth, magnitudes that a fixed number of decimals loses, and large ones.
TEST_F(EventLog, task1_numbers_read_back_the_same) {
  std::vector<Case> cases{
      case_of({.loss = 1.0 / 3}),
      case_of({.lr = 6.25e-7}),
      case_of({.scale = 16777216, .scale_after = 33554432}),
      case_of({.loss = -0.1, .norm = 1e30}),
      case_of({.step = 123456789, .norm = 1e-12}),
      case_of({.scale = 0x1p-20, .scale_after = 0x1p-21}),
  };
  for (int i = 0; i < 4; ++i) {
    cases.push_back(case_of({.loss = random().uniform(0, 10),
                             .norm = std::pow(10.0, random().uniform(-9, 9)),
                             .lr = random().uniform(1e-6, 1e-3)}));
  }
  const auto got = subject().observe("written_line", cases);
  for (const auto& run : together(cases, got, got)) {
    expect_numbers(run);
    expect_field(run, "step", in_words(static_cast<double>(run.in.integer("step"))));
    expect_field(run, "scale", in_words(run.in.number("scale")));
    expect_field(run, "scale_after", in_words(run.in.number("scale_after")));
  }
}

TEST_F(EventLog, task1_what_is_not_finite_is_a_string) {
  const std::vector<Case> cases{
      case_of({.norm = kInfinity, .skipped = true}),
      case_of({.norm = kNaN, .skipped = true}),
      case_of({.loss = kNaN}),
      case_of({.loss = kNaN, .negative_nan = true}),
      case_of({.loss = -kInfinity, .norm = kNaN}),
      case_of({.loss = kInfinity, .scale = {}, .scale_after = {}, .norm = kInfinity}),
      case_of({.scale = kInfinity, .scale_after = kInfinity}),
  };
  const auto got = subject().observe("written_line", cases);
  for (const auto& run : together(cases, got, got)) {
    expect_numbers(run);
    if (run.in.all_numbers().contains("scale")) {
      expect_field(run, "scale", in_words(run.in.number("scale")));
      expect_field(run, "scale_after", in_words(run.in.number("scale_after")));
    }
  }
}

TEST_F(EventLog, task1_no_scaler_is_null) {
  const std::vector<Case> cases{
      case_of({.scale = {}, .scale_after = {}}),
      case_of({.step = random().integer(1, 999), .scale = {}, .scale_after = {}, .clipped = true}),
  };
  const auto got = subject().observe("written_line", cases);
  for (const auto& run : together(cases, got, got)) {
    expect_json(run);
    expect_field(run, "scale", "null");
    expect_field(run, "scale_after", "null");
  }
}

TEST_F(EventLog, task1_one_record_is_one_line) {
  const std::vector<Case> cases{
      case_of({}),
      case_of({.step = random().integer(1, 999), .norm = 0.1, .clipped = true}),
      case_of({.scale_after = 32, .norm = 1e10, .skipped = true}),
  };
  const auto got = subject().observe("written_line", cases);
  for (const auto& run : together(cases, got, got)) {
    expect_json(run);
    EXPECT_THAT(run.got, Flag("newline_at_the_end", true));
    EXPECT_THAT(run.got, Number("newlines", Near(1, 0)));
  }
}

}  // namespace
