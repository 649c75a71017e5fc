// Grades one implementation: every ordered check with one seed or several, events as they happen.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judge/subject.hpp"

namespace gradlab {

struct CheckOrder {
  std::string name;
  int task = 0;
};

struct GradingOrder {
  std::vector<CheckOrder> checks;
  std::vector<std::string> seeds;  // one, or several for an audit
  bool diagnose = true;
  // True once the hand-in has used all its time: the checks that are left are not run.
  std::function<bool()> out_of_time = [] { return false; };
};

using Emit = std::function<void(const nlohmann::json& event)>;

void grade(Subject& judged, Subject& reference, const GradingOrder& order, const Emit& emit);

// Runs the recorded case of a failing check again and says what it shows now at the recorded place:
// {"event":"replay","got":…,"same":…,"passes":…}. Needs no reference.
void replay(Subject& judged, const nlohmann::json& failing, const Emit& emit);

}  // namespace gradlab
