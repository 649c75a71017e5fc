#include "alarm_episode.hpp"

namespace gradlab::monitor {

const char* name(Diagnosis diagnosis) noexcept {
  switch (diagnosis) {
    case Diagnosis::kNone:
      return "none";
    case Diagnosis::kNoGradient:
      return "no_gradient";
    case Diagnosis::kVanishing:
      return "vanishing";
    case Diagnosis::kExploding:
      return "exploding";
  }
  return "unknown";
}

}  // namespace gradlab::monitor
