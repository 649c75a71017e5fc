// Scalers as questions draw and describe them.
#pragma once

#include <string>

#include "drills/formulas.hpp"
#include "drills/random.hpp"

namespace gradlab::drills::templates {

// With an interval of a few updates, so that a head can follow it.
Scaler small_scaler(Random& random);
// "scale 64, growth factor 2, backoff factor 0.5, growth interval 3"
std::string options(const Scaler& scaler);

}  // namespace gradlab::drills::templates
