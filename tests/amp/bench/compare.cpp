#include "bench/compare.hpp"

#include <ATen/Parallel.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace bench {
namespace {

struct Time {
  double wall = 0;
  double cpu = 0;  // of this thread: what a busy machine hardly changes, where there is one thread
};

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One call, repeated within a round until it takes long enough to be timed.
Time timed(const std::function<void()>& call, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = thread_seconds();
  for (int i = 0; i < repeats; ++i) call();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count() / repeats, (thread_seconds() - cpu) / repeats};
}

Json best_and_middle(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return {{"best", all.front() * 1e6}, {"median", all[all.size() / 2] * 1e6}};
}

}  // namespace

Json compare(const std::vector<Side>& sides, int repeats, int rounds) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> times;
  for (int round = 0; round <= rounds; ++round) {
    for (const auto& [name, call] : sides) {
      const Time took = timed(call, repeats);
      if (round == 0) continue;  // warms up
      times[name].first.push_back(took.wall);
      times[name].second.push_back(took.cpu);
    }
  }
  Json result;
  for (const auto& [name, call] : sides) {
    result[name] = {{"wall_us", best_and_middle(times[name].first)}};
    if (at::get_num_threads() == 1) result[name]["cpu_us"] = best_and_middle(times[name].second);
  }
  return result;
}

Json ratio(const Json& sides, const char* slow, const char* fast) {
  const char* clock = sides.at(slow).contains("cpu_us") ? "cpu_us" : "wall_us";
  const auto of = [&](const char* figure) {
    return sides.at(slow).at(clock).at(figure).get<double>() /
           sides.at(fast).at(clock).at(figure).get<double>();
  };
  return {{"best", of("best")}, {"median", of("median")}};
}

}  // namespace bench
