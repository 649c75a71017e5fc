#include "drills/plan.hpp"

#include <algorithm>

namespace gradlab::drills {
namespace {

// 0: due, 1: never seen, 2: the rest.
int need(const Template& of, const Plan& plan, const Progress& progress) {
  const auto found = progress.items.find(of.name);
  if (found == progress.items.end()) return 1;
  return is_due(found->second, plan.today) ? 0 : 2;
}

std::vector<const Template*> by_need(const std::vector<const Template*>& from, const Plan& plan,
                                     const Progress& progress) {
  std::vector<const Template*> sorted;
  for (const int wanted : {0, 1, 2}) {
    for (const auto* each : from) {
      if (need(*each, plan, progress) == wanted) sorted.push_back(each);
    }
  }
  return sorted;
}

}  // namespace

std::vector<const Template*> candidates(const std::vector<Template>& all, const Plan& plan) {
  std::vector<const Template*> found;
  for (const auto& each : all) {
    const bool own = plan.topic == "own" && each.name.starts_with("own.");
    if (!plan.topic.empty() && each.topic != plan.topic && !own) continue;
    if (plan.exam && each.kind == Kind::kRecall) continue;
    found.push_back(&each);
  }
  return found;
}

std::vector<Question> planned(const std::vector<Template>& all, const Plan& plan,
                              const Progress& progress) {
  auto from = candidates(all, plan);
  if (plan.due) {
    std::erase_if(from, [&](const Template* each) { return need(*each, plan, progress) != 0; });
  }
  if (from.empty()) return {};
  Random random(seed_of(plan.seed, "plan"));
  random.shuffle(from);
  if (plan.in_need) from = by_need(from, plan, progress);
  const std::size_t count = plan.due ? std::min(plan.count, from.size()) : plan.count;
  std::vector<Question> questions;
  for (std::size_t i = 0; i < count; ++i) {
    questions.push_back(make(*from[i % from.size()], seed_of(plan.seed, "question", i)));
  }
  return questions;
}

}  // namespace gradlab::drills
