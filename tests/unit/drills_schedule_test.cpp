// SM-2 against values worked by hand, and what the calendar can do to it.
#include <gmock/gmock.h>

#include "drills/schedule.hpp"

namespace gradlab::drills {
namespace {

const Day kToday = *day_of("2026-12-01");

// Answers `grade` on each day that it is due; the intervals in days.
std::vector<std::int64_t> intervals(const std::vector<int>& grades, Item& item) {
  std::vector<std::int64_t> all;
  Day today = kToday;
  for (const int grade : grades) {
    review(item, grade, today);
    all.push_back(item.interval);
    today = item.due();
  }
  return all;
}

TEST(Sm2, grows_by_the_ease_where_every_answer_is_right) {
  Item item;
  // 2.5 + 0.1 each time: 6 * 2.8 = 16.8, 17 * 2.9 = 49.3, 50 * 3 = 150.
  EXPECT_THAT(intervals({5, 5, 5, 5, 5}, item), testing::ElementsAre(1, 6, 17, 50, 150));
  EXPECT_NEAR(item.ease, 3.0, 1e-9);
}

TEST(Sm2, a_grade_of_4_leaves_the_ease) {
  Item item;
  EXPECT_THAT(intervals({4, 4, 4, 4}, item), testing::ElementsAre(1, 6, 15, 38));
  EXPECT_NEAR(item.ease, 2.5, 1e-9);
}

TEST(Sm2, a_grade_of_3_takes_0_14_of_the_ease) {
  Item item;
  // 2.36, 2.22, 2.08: 6 * 2.08 = 12.48.
  EXPECT_THAT(intervals({3, 3, 3}, item), testing::ElementsAre(1, 6, 13));
  EXPECT_NEAR(item.ease, 2.08, 1e-9);
}

TEST(Sm2, the_ease_is_never_below_1_3) {
  Item item;
  intervals(std::vector<int>(30, 3), item);
  EXPECT_DOUBLE_EQ(item.ease, 1.3);
}

TEST(Sm2, a_grade_below_3_begins_anew_and_keeps_the_ease) {
  Item item;
  EXPECT_THAT(intervals({5, 5, 5, 1, 5, 5}, item), testing::ElementsAre(1, 6, 17, 1, 1, 6));
  EXPECT_NEAR(item.ease, 3.0, 1e-9);  // five right ones
}

TEST(Sm2, ten_right_answers_on_one_day_are_one_repetition) {
  Item item;
  for (int i = 0; i < 10; ++i) review(item, kAtOnce, kToday);
  EXPECT_EQ(item.seen, 10);
  EXPECT_EQ(item.right, 10);
  EXPECT_EQ(item.repetitions, 1);
  EXPECT_EQ(item.due(), kToday + 1);
}

TEST(Sm2, a_wrong_answer_before_it_is_due_begins_anew) {
  Item item;
  intervals({5, 5, 5}, item);
  review(item, kOtherMistake, item.last + 2);
  EXPECT_EQ(item.repetitions, 0);
  EXPECT_EQ(item.interval, 1);
}

TEST(Sm2, intervals_stay_dates) {
  Item item;
  intervals(std::vector<int>(60, 5), item);
  EXPECT_EQ(date_of(item.due()).size(), 10U);
}

TEST(Clock, what_was_reviewed_in_the_future_counts_as_reviewed_today) {
  Item item;
  intervals({5, 5}, item);
  item.last = kToday + 4000;
  mend_clock(item, kToday);
  EXPECT_EQ(item.due(), kToday + 6);
  EXPECT_EQ(item.seen, 2);
  EXPECT_FALSE(is_due(item, kToday + 5));
  EXPECT_TRUE(is_due(item, kToday + 6));
}

TEST(Dates, are_read_as_they_are_written) {
  for (const Day day : {Day{0}, kToday, kToday + 1, kToday + 365, Day{11016}}) {
    EXPECT_EQ(day_of(date_of(day)), day);
  }
  EXPECT_EQ(date_of(0), "1970-01-01");
  for (const char* wrong : {"", "2026-13-01", "2026-02-30", "tomorrow", "2026-12-01x"}) {
    EXPECT_EQ(day_of(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace gradlab::drills
