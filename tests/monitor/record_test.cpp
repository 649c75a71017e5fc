// The record: strict JSON lines of the shared format, whole after a kill, readable while it grows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gradlab/amp/amp.hpp"
#include "json_line.hpp"
#include "support/loop.hpp"

namespace {

namespace amp = gradlab::amp;
namespace monitor = gradlab::monitor;
using Json = nlohmann::json;
using loops::Hand;
using loops::Told;
using testing::HasSubstr;

class Record : public testing::Test {
 protected:
  Record() {
    char name[] = "/tmp/gradlab-monitor-XXXXXX";
    folder_ = mkdtemp(name);
    options_.path = folder_ + "/run.jsonl";
  }
  ~Record() override { std::filesystem::remove_all(folder_); }

  std::string text() const {
    std::ifstream in(options_.path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Every line, parsed strictly; a last one without its end is left out.
  std::vector<Json> lines() const {
    std::vector<Json> all;
    const std::string whole = text();
    for (size_t begin = 0, end = 0; (end = whole.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      all.push_back(Json::parse(whole.substr(begin, end - begin)));
    }
    return all;
  }
  std::vector<Json> lines(const std::string& event) const {
    std::vector<Json> all;
    for (const Json& line : lines()) {
      if (line.at("event") == event) all.push_back(line);
    }
    return all;
  }

  std::string folder_;
  monitor::Options options_;
};

// ---- what stands in it

TEST_F(Record, has_a_start_the_steps_the_events_and_an_end) {
  Hand hand(2, {1});
  amp::GradScaler scaler;
  options_.scaler = &scaler;
  options_.name = "a run";
  options_.layers_every = 1;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), options_);
  for (int i = 0; i < 2; ++i) {
    const auto loss = torch::tensor(0.5F);
    scaler.scale(loss);
    const double overflow = i == 0 ? INFINITY : 65536.0 / 2 * 3;
    hand.set_all({overflow, 65536.0 / 2 * 4});
    scaler.unscale_(hand.optimizer());
    monitor.step(loss);
    amp::clip_grad_norm_(amp::parameters_of(hand.optimizer()), 1);
    scaler.step(hand.optimizer());
    scaler.update();
  }
  monitor.close();
  const auto all = lines();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].at("event"), "run_start");
  EXPECT_EQ(all[0].at("format"), "gradlab-log-1");
  EXPECT_EQ(all[0].at("name"), "a run");
  EXPECT_EQ(all[1].at("event"), "skipped_step");
  EXPECT_EQ(all[1].at("severity"), "info");
  EXPECT_EQ(all[1].at("layers"), Json::array({"a"}));
  EXPECT_EQ(all[2].at("step"), 0);
  EXPECT_EQ(all[2].at("norm"), "inf");
  EXPECT_EQ(all[2].at("skipped"), true);
  EXPECT_EQ(all[2].at("scale"), 65536);
  EXPECT_EQ(all[2].at("scale_after"), 32768);
  EXPECT_EQ(all[3].at("norm"), 5);
  EXPECT_EQ(all[3].at("loss"), 0.5);
  EXPECT_EQ(all[3].at("clipped"), true);
  EXPECT_EQ(all[3].at("max_norm"), 1);
  EXPECT_EQ(all[3].at("skipped"), false);
  EXPECT_EQ(all[3].at("growth_tracker"), 1);
  EXPECT_EQ(all[3].at("lr"), 0);
  EXPECT_EQ(all[3].at("layers"), (Json{{"a", 3}, {"b", 4}}));
  EXPECT_EQ(all[4].at("event"), "run_end");
  EXPECT_EQ(all[4].at("steps"), 2);
  EXPECT_EQ(all[4].at("counts").at("skipped_steps"), 1);
}

TEST_F(Record, of_a_loop_without_a_scaler_has_no_scale) {
  Hand hand(1, {1});
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), options_);
  for (int i = 0; i < 3; ++i) {
    hand.set(0, 1);
    monitor.step(1.0);
    EXPECT_EQ(lines("step").size(), static_cast<size_t>(i));  // the next step ends one
  }
  monitor.close();
  ASSERT_EQ(lines("step").size(), 3U);
  for (const Json& step : lines("step")) {
    EXPECT_TRUE(step.at("scale").is_null());
    EXPECT_TRUE(step.at("scale_after").is_null());
    EXPECT_TRUE(step.at("clipped").is_null());
    EXPECT_EQ(step.at("skipped"), false);
  }
}

// The scaler's update ends a step: its line is there at once, for who reads along.
TEST_F(Record, is_readable_while_it_grows) {
  Hand hand(1, {1});
  amp::GradScaler scaler;
  options_.scaler = &scaler;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), options_);
  for (int i = 0; i < 5; ++i) {
    scaler.scale(torch::ones({}));
    hand.set(0, 1);
    monitor.step(1.0);
    scaler.step(hand.optimizer());
    scaler.update();
    EXPECT_EQ(lines("step").size(), static_cast<size_t>(i + 1));
  }
}

// An observer put in later hides update(): lines come with the next step, and are still true.
TEST_F(Record, is_true_where_another_observer_hides_the_calls) {
  class Nothing : public amp::Observer {
   public:
    void begin(const amp::Event&) noexcept override {}
    void end(const amp::Event&) noexcept override {}
  };
  Hand hand(1, {1});
  amp::GradScaler scaler;
  options_.scaler = &scaler;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), options_);
  Nothing nothing;
  {
    const amp::ObserverScope scope(nothing);
    for (int i = 0; i < 3; ++i) {
      scaler.scale(torch::ones({}));
      hand.set(0, i == 1 ? INFINITY : 1);
      monitor.step(1.0);
      scaler.step(hand.optimizer());
      scaler.update();
    }
  }
  monitor.close();
  const auto steps = lines("step");
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].at("skipped"), true);
  EXPECT_EQ(steps[1].at("scale_after"), 32768);
  EXPECT_EQ(steps[2].at("scale"), 32768);
}

TEST_F(Record, an_observer_of_before_still_hears_the_calls) {
  class Count : public amp::Observer {
   public:
    void begin(const amp::Event&) noexcept override { ++begun; }
    void end(const amp::Event&) noexcept override { ++ended; }
    int begun = 0, ended = 0;
  } count;
  const amp::ObserverScope scope(count);
  Hand hand(1, {1});
  amp::GradScaler scaler;
  options_.scaler = &scaler;
  {
    monitor::Monitor first(hand.layers(), hand.optimizer(), options_);
    monitor::Monitor second(hand.layers(), hand.optimizer(), monitor::Options());
    scaler.scale(torch::ones({}));
    first.close();
    scaler.scale(torch::ones({}));
  }
  scaler.scale(torch::ones({}));
  EXPECT_EQ(amp::observer(), &count);
  EXPECT_EQ(count.begun, 3);
  EXPECT_EQ(count.ended, 3);
}

// ---- a kill

// A child writes until it is killed: every line but at most the last is whole, and at most the step
// in progress is missing.
TEST_F(Record, loses_at_most_the_line_being_written_when_killed) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Hand hand(3, {4});
    amp::GradScaler scaler;
    options_.scaler = &scaler;
    options_.layers_every = 1;
    monitor::Monitor monitor(hand.layers(), hand.optimizer(), options_);
    for (int64_t i = 0;; ++i) {
      scaler.scale(torch::ones({}));
      hand.set_all({1, 2, 3});
      monitor.step(1.0);
      scaler.step(hand.optimizer());
      scaler.update();
      if (write(pipe_ends[1], &i, sizeof i) != sizeof i) _exit(1);
    }
  }
  close(pipe_ends[1]);
  int64_t done = -1;
  while (done < 200 && read(pipe_ends[0], &done, sizeof done) == sizeof done) {
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  while (read(pipe_ends[0], &done, sizeof done) == sizeof done) {
  }
  close(pipe_ends[0]);
  const auto steps = lines("step");  // parses every whole line
  EXPECT_GE(static_cast<int64_t>(steps.size()), done + 1);
  EXPECT_LE(static_cast<int64_t>(steps.size()), done + 2);
}

TEST_F(Record, goes_on_behind_a_line_that_was_cut) {
  std::ofstream(options_.path) << "{\"event\":\"step\",\"step\":0}\n{\"event\":\"st";
  Hand hand(1);
  EXPECT_THROW(monitor::Monitor(hand.layers(), hand.optimizer(), options_), monitor::Error);
  options_.mode = monitor::FileMode::kAppend;
  monitor::Monitor(hand.layers(), hand.optimizer(), options_).close();
  EXPECT_THAT(text(), HasSubstr("{\"event\":\"st\n{\"event\":\"run_start\""));
}

// ---- the file

TEST_F(Record, that_is_there_is_refused_or_overwritten) {
  std::ofstream(options_.path) << "mine\n";
  Hand hand(1);
  try {
    monitor::Monitor(hand.layers(), hand.optimizer(), options_);
    FAIL();
  } catch (const monitor::Error& error) {
    EXPECT_EQ(error.kind(), monitor::ErrorKind::kRecordExists);
    EXPECT_THAT(error.what(), HasSubstr("kAppend or kOverwrite"));
  }
  EXPECT_EQ(text(), "mine\n");
  options_.mode = monitor::FileMode::kOverwrite;
  monitor::Monitor(hand.layers(), hand.optimizer(), options_).close();
  EXPECT_EQ(lines().at(0).at("event"), "run_start");
}

TEST_F(Record, that_cannot_be_written_is_refused) {
  Hand hand(1);
  options_.path = folder_ + "/no/such/run.jsonl";
  try {
    monitor::Monitor(hand.layers(), hand.optimizer(), options_);
    FAIL();
  } catch (const monitor::Error& error) {
    EXPECT_EQ(error.kind(), monitor::ErrorKind::kRecordNotWritable);
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
}

TEST_F(Record, on_a_full_disk_ends_and_the_loop_goes_on) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  Hand hand(1);
  Told told;
  options_.path = "/dev/full";
  options_.mode = monitor::FileMode::kAppend;
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), told.heard(options_));
  hand.set(0, 1);
  for (int i = 0; i < 3; ++i) monitor.step(1.0);
  EXPECT_EQ(told.count("record_error"), 1);
  EXPECT_EQ(monitor.checks(), 3);
}

// ---- callbacks

TEST_F(Record, a_callback_that_throws_is_dropped_and_noted) {
  Hand hand(1);
  int calls = 0;
  options_.on_step = [&](const monitor::StepRecord&) {
    ++calls;
    throw std::runtime_error("sink broke");
  };
  monitor::Monitor monitor(hand.layers(), hand.optimizer(), options_);
  hand.set(0, 1);
  for (int i = 0; i < 4; ++i) monitor.step(1.0);
  monitor.close();
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(lines("sink_error").size(), 1U);
  EXPECT_EQ(lines("sink_error")[0].at("error"), "sink broke");
  EXPECT_EQ(lines("step").size(), 4U);
}

// ---- JSON

TEST(JsonLine, is_strict_whatever_is_written) {
  monitor::JsonLine line;
  const double nan = NAN;
  line.add("inf", static_cast<double>(INFINITY)).add("minus", -static_cast<double>(INFINITY));
  line.add("nan", nan).add("tiny", 5e-324).add("none", std::optional<double>());
  line.add("text", std::string("quote \" back \\ line \n bell \x07 \xC3\xA9"));
  line.add("broken", std::string("\xFF \xC3( \xED\xA0\x80 \xE2\x82"));
  line.add("list", monitor::Value(std::vector<std::string>{"a", "b\"c"}));
  const Json read = Json::parse(line.text());
  EXPECT_EQ(read.at("inf"), "inf");
  EXPECT_EQ(read.at("minus"), "-inf");
  EXPECT_EQ(read.at("nan"), "nan");
  EXPECT_EQ(read.at("tiny"), 5e-324);
  EXPECT_TRUE(read.at("none").is_null());
  EXPECT_EQ(read.at("text"), "quote \" back \\ line \n bell \x07 \xC3\xA9");
  EXPECT_EQ(read.at("list"), (Json{"a", "b\"c"}));
  EXPECT_THAT(read.at("broken").get<std::string>(), HasSubstr("\xEF\xBF\xBD"));
  EXPECT_EQ(line.text().back(), '\n');
  EXPECT_EQ(line.text().find('\n'), line.text().size() - 1);
}

}  // namespace
