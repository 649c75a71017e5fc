#include "judge/queue_time.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/processes.hpp"

namespace gradlab {
namespace {

namespace fs = std::filesystem;

// The kernel adds up what a thread waited when it gets a core again. Whether one waits now is
// looked at twice.
constexpr auto kLook = std::chrono::milliseconds(100);
constexpr double kHalf = 0.05;        // seconds of CPU in a look: less is starving
constexpr double kAnotherLook = 2.0;  // seconds

// All processes below one, of any generation.
std::vector<pid_t> below(pid_t outermost) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : sandbox::numbers_in("/proc"))
    children.emplace(sandbox::parent_of(pid), pid);
  std::vector<pid_t> found{outermost};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  return found;
}

}  // namespace

QueueTime::Threads QueueTime::threads_below(pid_t outermost) {
  Threads threads;
  for (const pid_t pid : below(outermost)) {
    const fs::path tasks = "/proc/" + std::to_string(pid) + "/task";
    for (const pid_t task : sandbox::numbers_in(tasks)) {
      const fs::path place = tasks / std::to_string(task);
      double ran_ns = 0, waited_ns = 0;
      std::ifstream(place / "schedstat") >> ran_ns >> waited_ns;
      threads[task] = {ran_ns * 1e-9, waited_ns * 1e-9,
                       sandbox::stat_after_name(place / "stat").starts_with('R')};
    }
  }
  return threads;
}

double QueueTime::newly_waited(pid_t outermost, double own_seconds) {
  const Threads first = threads_below(outermost);
  std::this_thread::sleep_for(kLook);
  const Threads now = threads_below(outermost);
  double waited = 0, cpu = 0, cpu_of_look = 0;
  bool waits = false;
  for (const auto& [task, thread] : now) {
    const auto before = counted_.find(task);
    cpu += thread.cpu;
    waited =
        std::max(waited, thread.waited - (before == counted_.end() ? 0 : before->second.waited));
    const auto look = first.find(task);
    if (look == first.end()) continue;
    const double got = thread.cpu - look->second.cpu;
    cpu_of_look += got;
    waits = waits || (thread.ready && look->second.ready && got < kHalf);
  }
  counted_ = now;
  if (cpu > own_seconds) return 0;
  return waits && cpu_of_look < kHalf ? std::max(waited, kAnotherLook) : waited;
}

}  // namespace gradlab
