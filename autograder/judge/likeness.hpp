// Whether two implementations showed the same on a case, as far as its numbers can tell.
#pragma once

#include "protocol/case.hpp"
#include "protocol/observation.hpp"

namespace gradlab {

// The same to the rounding of the narrowest type that the case holds: sums may be taken in any
// order. NaN and infinities compare by kind; what was thrown, by its type.
bool alike(const Case& in, const Observation& a, const Observation& b);

}  // namespace gradlab
