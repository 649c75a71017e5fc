#include "drills/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace gradlab::drills {
namespace {

constexpr double kLeastEase = 1.3;
constexpr std::int64_t kLongest = 36500;  // a hundred years: dates stay dates

std::int64_t next_interval(const Item& item) {
  if (item.repetitions == 1) return 1;
  if (item.repetitions == 2) return 6;
  // What a sum of tenths leaves in the last bits is no reason for a day more.
  const double days = std::ceil(static_cast<double>(item.interval) * item.ease - 1e-9);
  return std::min(kLongest, static_cast<std::int64_t>(days));
}

}  // namespace

std::string date_of(Day day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::optional<Day> day_of(const std::string& date) {
  int year = 0, length = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(date.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &length) != 3 ||
      length != static_cast<int>(date.size())) {
    return std::nullopt;
  }
  const std::chrono::year_month_day found{std::chrono::year{year}, std::chrono::month{month},
                                          std::chrono::day{day}};
  if (!found.ok()) return std::nullopt;
  return std::chrono::sys_days{found}.time_since_epoch().count();
}

void review(Item& item, int grade, Day today) {
  const bool early = item.seen > 0 && today < item.due();
  ++item.seen;
  if (grade >= 3) ++item.right;
  if (grade < 3) {
    item.repetitions = 0;
    item.interval = 1;
    item.last = today;
    return;
  }
  if (early) return;
  const int missed = 5 - grade;
  item.ease = std::max(kLeastEase, item.ease + 0.1 - missed * (0.08 + missed * 0.02));
  ++item.repetitions;
  item.interval = next_interval(item);
  item.last = today;
}

void mend_clock(Item& item, Day today) { item.last = std::min(item.last, today); }

}  // namespace gradlab::drills
