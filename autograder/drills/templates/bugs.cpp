// Spot the bug: a loop with one mutation. Which line, and what happens.
#include <fmt/format.h>

#include <algorithm>

#include "drills/loops.hpp"
#include "drills/templates.hpp"

namespace gradlab::drills::templates {
namespace {

// How the changed place would look: for a list in which several mistakes stand beside each other.
std::string shown_change(const Mutation& mutation) {
  if (mutation.before.empty()) return mutation.instead;
  return fmt::format("{} before {}", mutation.line, mutation.before);
}

Question which_line(const Loop& loop, Random& random) {
  const auto& mutation = random.pick(loop.mutations);
  const auto now = mutated(loop, mutation);
  auto q = ask_number(loop.about + " One line is wrong, or in the wrong place. Which?",
                      now.wrong.front() + 1, 0, "line");
  auto& answer = std::get<Numbers>(q.answer);
  if (now.wrong.size() > 1) answer.also.push_back(now.wrong.back() + 1);
  q.code = now.lines;
  std::vector<int> named = now.wrong;
  for (const auto& other : loop.mutations) {
    const int place = place_of(now, other.line, other.occurrence);
    if (place < 0 || std::count(named.begin(), named.end(), place) > 0) continue;
    named.push_back(place);
    q.miss(place + 1, fmt::format("suspects a line that is right: {}", other.fine));
  }
  q.hint = "Say for each line what it needs to find, and whether it finds it.";
  q.why = fmt::format("{} Right would be: {}.", mutation.effect, mutation.fine);
  return q;
}

Question what_happens(const Loop& loop, Random& random) {
  auto mutations = loop.mutations;
  random.shuffle(mutations);
  const auto now = mutated(loop, mutations.front());
  std::vector<Choices::Option> options = {{mutations.front().effect, {}, ""}};
  for (std::size_t i = 1; i < std::min<std::size_t>(mutations.size(), 4); ++i) {
    options.push_back({mutations[i].effect,
                       {},
                       fmt::format("belongs to another mistake: {}", shown_change(mutations[i]))});
  }
  auto q = ask_choice(fmt::format("{} Line {} is wrong, or in the wrong place. What happens?",
                                  loop.about, now.wrong.front() + 1),
                      std::move(options));
  q.code = now.lines;
  q.hint = fmt::format("What should hold there: {}.", mutations.front().fine);
  q.why = fmt::format("Right would be: {}.", mutations.front().fine);
  return q;
}

}  // namespace

std::vector<Template> bugs() {
  std::vector<Template> all;
  for (auto* part : {step_loops, lab_loops, record_loops}) {
    for (const auto& loop : part()) {
      all.push_back({fmt::format("{}.bug_in_{}", loop.topic, loop.name), loop.topic, Kind::kBug,
                     [loop](Random& random) { return which_line(loop, random); }});
      all.push_back({fmt::format("{}.bug_effect_in_{}", loop.topic, loop.name), loop.topic,
                     Kind::kBug, [loop](Random& random) { return what_happens(loop, random); }});
    }
  }
  return all;
}

}  // namespace gradlab::drills::templates
