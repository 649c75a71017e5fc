// Names the known mistake that a failed check's observations look like. It only explains: no verdict
// depends on it. No match means no word, rather than a guess.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/context.hpp"
#include "judge/implementations.hpp"

namespace gradlab {

// What one failed check asked, what came, and the case that is shown.
struct FailedCheck {
  std::string name;
  std::vector<Asked> asked;
};

struct Diagnosis {
  std::string check;
  const KnownBug* bug = nullptr;
  std::vector<const KnownBug*> also;  // reproduce the same observations
};

// For each failed check, the bugs that reproduce every observation of it; the one first whose own
// failing checks are most like `failed`. Stops after `seconds`.
std::vector<Diagnosis> diagnose(const std::vector<FailedCheck>& failed, double seconds);

// The same to the tolerance of their types: NaN and infinities by kind.
bool alike(const Observation& a, const Observation& b);

}  // namespace gradlab
