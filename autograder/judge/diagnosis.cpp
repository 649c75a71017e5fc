#include "judge/diagnosis.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "judge/likeness.hpp"
#include "judge/subject.hpp"

namespace gradlab {
namespace {

// Of a task's failed checks; after so many that a bug does not reproduce it is asked no more.
constexpr int kMostMisses = 2;

bool reproduces(const KnownBug& bug, const Judged& failed) {
  for (const auto& asked : failed.asked) {
    bool same = true;
    ask_in_child(bug.impl, asked.experiment, asked.cases, [&](size_t i, Observation seen) {
      return same = alike(asked.cases[i], seen, asked.got[i]);
    });
    if (!same) return false;
  }
  return true;
}

class Diagnosing {
 public:
  Diagnosing(const std::vector<Judged>& judged, int runs) : judged_(judged), runs_left_(runs) {}

  std::vector<Diagnosis> run() {
    if (one_mistake()) return std::move(found_);
    std::set<int> tasks;
    for (const auto& check : judged_) {
      if (!check.passed) tasks.insert(check.task);
    }
    for (const int task : tasks) {
      if (!look_at(task)) break;
    }
    return std::move(found_);
  }

 private:
  bool remembered(const KnownBug& bug, const Judged& check) {
    const auto [at, is_new] = asked_.try_emplace({&bug, &check});
    if (is_new) {
      --runs_left_;
      at->second = reproduces(bug, check);
    }
    return at->second;
  }

  static bool catches(const Judged& check, const KnownBug& bug) {
    const auto& own = bug.caught_by;
    return std::find(own.begin(), own.end(), check.check) != own.end();
  }

  // Checks that passed although they catch this bug; of one task, or of all.
  long contradictions(const KnownBug& bug, int task = 0) const {
    return std::count_if(judged_.begin(), judged_.end(), [&](const Judged& check) {
      return check.passed && (task == 0 || check.task == task) && catches(check, bug);
    });
  }

  long failed_otherwise(const KnownBug& bug) const {
    return std::count_if(judged_.begin(), judged_.end(), [&](const Judged& check) {
      return !check.passed && !catches(check, bug);
    });
  }

  // The plainest case first: bugs that fail just the checks that failed, and reproduce them all.
  bool one_mistake() {
    std::vector<const KnownBug*> whole;
    for (const auto& bug : implementations().bugs) {
      if (contradictions(bug) > 0 || failed_otherwise(bug) > 0) continue;
      const bool all = std::all_of(judged_.begin(), judged_.end(), [&](const Judged& check) {
        return check.passed || remembered(bug, check);
      });
      if (all) whole.push_back(&bug);
    }
    for (const auto& check : judged_) {
      if (!check.passed && !whole.empty()) found_.push_back({check.check, whole});
    }
    return !whole.empty();
  }

  // For more than one mistake, a task at a time. False when there were too many runs.
  bool look_at(int task) {
    std::map<std::string, std::vector<const KnownBug*>> explained;
    for (const auto& bug : implementations().bugs) {
      if (contradictions(bug, task) > 0) continue;
      int misses = 0;
      for (const auto& check : judged_) {
        if (check.task != task || check.passed || !catches(check, bug)) continue;
        if (runs_left_ <= 0) return false;
        if (remembered(bug, check)) {
          explained[check.check].push_back(&bug);
        } else if (++misses == kMostMisses) {
          break;
        }
      }
    }
    for (const auto& check : judged_) {
      if (const auto at = explained.find(check.check); at != explained.end()) {
        found_.push_back({check.check, likeliest(at->second)});
      }
    }
    return true;
  }

  std::vector<const KnownBug*> likeliest(std::vector<const KnownBug*> bugs) const {
    const auto less = [this](const KnownBug* a, const KnownBug* b) {
      return std::pair(contradictions(*a), failed_otherwise(*a)) <
             std::pair(contradictions(*b), failed_otherwise(*b));
    };
    std::stable_sort(bugs.begin(), bugs.end(), less);
    const long least = contradictions(*bugs.front());
    std::erase_if(bugs, [&](const KnownBug* bug) { return contradictions(*bug) > least; });
    return bugs;
  }

  const std::vector<Judged>& judged_;
  int runs_left_;
  std::map<std::pair<const KnownBug*, const Judged*>, bool> asked_;
  std::vector<Diagnosis> found_;
};

}  // namespace

std::vector<Diagnosis> diagnose(const std::vector<Judged>& judged, int runs) {
  return Diagnosing(judged, runs).run();
}

}  // namespace gradlab
