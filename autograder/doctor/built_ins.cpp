#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "doctor/rounds.hpp"

namespace gradlab::doctor {
namespace {

using record::Verdict;

std::string self(const Place& place, const std::string& subject, const std::string& seed) {
  return fmt::format("again: build/release/bin/judge_{} --self {} --seed {}", place.lab.slug,
                     subject, seed);
}

// What a bug did with one seed that it should not have done; empty when it was as it says.
std::string unlike_its_word(const ListedBug& bug, const Record& record,
                            std::vector<std::string>& fails) {
  std::vector<std::string> passes, also;
  for (const auto& task : record.tasks) {
    for (const auto& check : task.checks) {
      const auto verdict = check.came.value_or(check.verdict);
      const bool named =
          std::find(bug.caught_by.begin(), bug.caught_by.end(), check.name) != bug.caught_by.end();
      if (verdict == Verdict::kFail) {
        fails.push_back(check.name);
        if (!named) also.push_back(check.name);
      } else if (verdict != Verdict::kPass) {
        return fmt::format("ends {} in {}, not by a failed comparison", check.name,
                           record::to_string(verdict));
      } else if (named) {
        passes.push_back(check.name);
      }
    }
  }
  if (bug.caught_by.empty()) return "names no check that catches it";
  std::string said;
  if (!passes.empty()) said += fmt::format("passes {}", fmt::join(passes, ", "));
  if (!also.empty()) {
    said += fmt::format("{}fails {}", said.empty() ? "" : ", and ", fmt::join(also, ", "));
  }
  return said;
}

Problems look_at_bug(pipeline::Worker& worker, const Place& place, const ListedBug& bug,
                     int seed_count) {
  const std::string subject = "bug:" + bug.name;
  std::string first, first_seed;
  std::vector<std::string> first_fails;
  int odd = 0;
  bool always_the_same = true;
  for (const auto& seed : seeds(seed_count)) {
    const Record record = worker.grade_built_in(subject, start_of(subject, seed, place));
    std::vector<std::string> fails;
    const auto said = unlike_its_word(bug, record, fails);
    if (said.empty()) continue;
    if (++odd == 1) {
      first = said;
      first_seed = seed;
      first_fails = fails;
    }
    always_the_same = always_the_same && fails == first_fails;
  }
  if (odd == 0) return {};
  const std::string seeds_said =
      fmt::format("with {} of {} seeds, first {}", odd, seed_count, first_seed);
  // The same with every seed: the word is wrong, or the mistake was never looked at.
  if (odd == seed_count && always_the_same) {
    return {{fmt::format("bug {} {}, unlike its caught_by", bug.name, first),
             first_fails.empty() ? "no check catches it"
                                 : fmt::format("it fails {}", fmt::join(first_fails, ", "))}};
  }
  return {{fmt::format("bug {} {}, unlike its caught_by, {}", bug.name, first, seeds_said),
           self(place, subject, first_seed)}};
}

}  // namespace

Round idle_answers(const Place& place, int seed_count) {
  Round round;
  for (const auto& name : place.contents.idle) {
    round.jobs.push_back([place, name, seed_count](pipeline::Worker& worker) {
      Problems problems;
      const std::string subject = "idle:" + name;
      for (const auto& seed : seeds(seed_count)) {
        const Record record = worker.grade_built_in(subject, start_of(subject, seed, place));
        if (!record.score) return Problems{fault("do-nothing answer " + name, record)};
        for (const auto& task : record.tasks) {
          if (task.points == 0) continue;
          std::vector<std::string> passed;
          for (const auto& check : task.checks) {
            if (check.points > 0) passed.push_back(check.name);
          }
          problems.push_back(
              {fmt::format("the do-nothing answer {} earns {} of {} on task {}, seed {}: it passes "
                           "{}",
                           name, task.points, task.max_points, task.id, seed,
                           fmt::join(passed, ", ")),
               "make that check a guard, with needs = a check that earns"});
        }
        if (!problems.empty()) return problems;
      }
      return problems;
    });
  }
  round.say = [](const std::vector<Problems>& found) {
    const size_t earning = found.size() - good(found);
    return earning == 0 ? std::string("do-nothing answers 0 points")
                        : fmt::format("{} of {} do-nothing answers earn", earning, found.size());
  };
  return round;
}

Round reference(const Place& place, int seed_count) {
  const auto look = [place, seed_count](pipeline::Worker& worker) {
    const auto all = seeds(seed_count);
    const auto audit = worker.audit_built_in("reference", all);
    for (size_t i = 0; i < all.size(); ++i) {
      if (audit.not_passing[i].empty()) continue;
      return Problems{{fmt::format("the reference fails {} with seed {}",
                                   fmt::join(audit.not_passing[i], ", "), all[i]),
                       self(place, "reference", all[i])}};
    }
    return Problems{};
  };
  return {{look}, [](const std::vector<Problems>& found) {
            return std::string(good(found) == 1 ? "reference passes" : "reference fails");
          }};
}

Round bugs(const Place& place, int seed_count) {
  Round round;
  for (const auto& bug : place.contents.bugs) {
    round.jobs.push_back([place, bug, seed_count](pipeline::Worker& worker) {
      return look_at_bug(worker, place, bug, seed_count);
    });
  }
  round.say = [seed_count](const std::vector<Problems>& found) {
    return fmt::format("bugs {} of {} fail exactly the checks they name (x {} seeds)", good(found),
                       found.size(), seed_count);
  };
  return round;
}

}  // namespace gradlab::doctor
