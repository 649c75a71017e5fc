// Which questions a round asks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drills/progress.hpp"
#include "drills/templates.hpp"

namespace gradlab::drills {

struct Plan {
  std::uint64_t seed = 0;
  std::size_t count = 10;
  std::string topic;    // "" for all, "own" for all that were imported
  bool exam = false;    // without what only a person can grade
  bool due = false;     // only what is due
  bool in_need = true;  // what is due first, then what was never seen; else by the seed alone
  Day today = 0;
};

// Of a topic, and of a kind that the plan can ask.
std::vector<const Template*> candidates(const std::vector<Template>& all, const Plan& plan);

// As many as asked for; where there are fewer templates, they come again with other numbers (what
// is due comes once).
std::vector<Question> planned(const std::vector<Template>& all, const Plan& plan,
                              const Progress& progress);

}  // namespace gradlab::drills
