// From a condition that shows at checks to an alarm that opens, changes and clears.
#pragma once

#include <cstdint>

namespace gradlab::monitor {

enum class Diagnosis { kNone, kNoGradient, kVanishing, kExploding };

// "no_gradient", "vanishing", "exploding"; "none".
const char* name(Diagnosis diagnosis) noexcept;

class AlarmEpisode {
 public:
  enum class Change { kNothing, kOpened, kCleared };

  // One check. A condition opens an alarm, or takes the place of another, once it has shown at
  // `confirmations` checks; a check without one clears at once.
  Change see(Diagnosis condition, int64_t confirmations) {
    if (condition == Diagnosis::kNone) {
      pending = Diagnosis::kNone;
      pending_count = 0;
      if (open == Diagnosis::kNone) return Change::kNothing;
      cleared = open;
      open = Diagnosis::kNone;
      return Change::kCleared;
    }
    pending_count = condition == pending ? pending_count + 1 : 1;
    pending = condition;
    if (pending_count < confirmations || condition == open) return Change::kNothing;
    open = condition;
    return Change::kOpened;
  }

  Diagnosis open = Diagnosis::kNone;
  Diagnosis pending = Diagnosis::kNone;
  int64_t pending_count = 0;
  Diagnosis cleared = Diagnosis::kNone;  // the last one
};

}  // namespace gradlab::monitor
