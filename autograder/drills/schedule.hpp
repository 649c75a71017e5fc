// When to ask a template again: plain SM-2.
// SOURCE: P. Woźniak, "Optimization of learning", 1990, algorithm SM-2. As there: the ease changes
// by the grade and is never below 1.3; intervals are 1, 6, then the last one times the ease,
// rounded up; a grade below 3 begins anew with the ease as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gradlab::drills {

using Day = std::int64_t;  // since 1970-01-01, by the local calendar

std::string date_of(Day day);                        // "2026-12-01"
std::optional<Day> day_of(const std::string& date);  // nothing where it is no date

struct Item {
  std::int64_t seen = 0;
  std::int64_t right = 0;
  double ease = 2.5;
  std::int64_t repetitions = 0;  // right ones in a row
  std::int64_t interval = 0;     // days
  Day last = 0;

  Day due() const { return last + interval; }
};

// Grades, from SM-2's 0 to 5.
inline constexpr int kAtOnce = 5;
inline constexpr int kWithHint = 3;
inline constexpr int kPartly = 3;
inline constexpr int kKnownMistake = 2;
inline constexpr int kOtherMistake = 1;

// A right answer before the day it is due counts, but moves nothing: ten rounds on one day are no
// ten days. A wrong one begins anew at any time.
void review(Item& item, int grade, Day today);

// A clock that went back leaves items reviewed in the future: they count as reviewed today, so none
// waits longer than its interval.
void mend_clock(Item& item, Day today);

inline bool is_due(const Item& item, Day today) { return item.seen > 0 && item.due() <= today; }

}  // namespace gradlab::drills
