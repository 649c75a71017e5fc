// The calls of a hand-in beside the answer's: what is aligned, and what is shown of it.
#include "render/trace.hpp"

#include <gmock/gmock.h>

namespace gradlab::render {
namespace {

using testing::ElementsAre;
using Calls = std::vector<std::string>;

record::Failing failing(const Calls& got, const Calls& expected) {
  record::Failing failing;
  failing.input = {{"trace", {{"got", got}, {"expected", expected}}}};
  return failing;
}

// "scale=scale", "clip|", "|unscale_": a row each.
Calls rows(const Trace& trace) {
  Calls all;
  for (const auto& row : trace.rows) {
    all.push_back(row.got + (row.same() ? "=" : "|") + row.expected);
  }
  return all;
}

TEST(TraceTest, calls_in_another_order_stand_on_lines_of_their_own) {
  const auto trace = trace_of(
      failing({"scale", "clip", "unscale_", "step"}, {"scale", "unscale_", "clip", "step"}));
  EXPECT_THAT(rows(trace),
              ElementsAre("scale=scale", "clip|", "unscale_=unscale_", "|clip", "step=step"));
  EXPECT_FALSE(trace.cut_before);
  EXPECT_FALSE(trace.cut_after);
}

TEST(TraceTest, a_call_too_many_and_one_that_is_missing) {
  EXPECT_THAT(rows(trace_of(failing({"step", "update", "update"}, {"step", "update"}))),
              ElementsAre("step=step", "update=update", "update|"));
  EXPECT_THAT(rows(trace_of(failing({}, {"update"}))), ElementsAre("|update"));
}

TEST(TraceTest, only_what_lies_around_the_first_difference_is_shown) {
  Calls expected(50, "step");
  Calls got = expected;
  got.insert(got.begin() + 20, "update");
  const auto trace = trace_of(failing(got, expected));
  EXPECT_EQ(trace.rows.size(), 9u);
  EXPECT_TRUE(trace.cut_before);
  EXPECT_TRUE(trace.cut_after);
}

TEST(TraceTest, equal_traces_and_none_show_nothing) {
  EXPECT_TRUE(trace_of(failing({"step"}, {"step"})).rows.empty());
  EXPECT_TRUE(trace_of(record::Failing{}).rows.empty());
}

TEST(TraceTest, damaged_trace_of_a_record_shows_nothing) {
  for (const auto& damaged : {nlohmann::json(3), nlohmann::json::array(),
                              nlohmann::json{{"got", 1}, {"expected", {1, nullptr}}}}) {
    record::Failing failing;
    failing.input = {{"trace", damaged}};
    EXPECT_TRUE(trace_of(failing).rows.empty());
  }
}

}  // namespace
}  // namespace gradlab::render
