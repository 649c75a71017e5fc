#include "drills/templates/scalers.hpp"

#include <fmt/format.h>

#include <cmath>

#include "drills/text.hpp"

namespace gradlab::drills::templates {

Scaler small_scaler(Random& random) {
  Scaler scaler;
  scaler.scale = std::ldexp(1, static_cast<int>(random.whole(6, 16)));
  scaler.interval = random.whole(2, 5);
  return scaler;
}

std::string options(const Scaler& scaler) {
  return fmt::format("scale {}, growth factor {}, backoff factor {}, growth interval {}",
                     number(scaler.scale), number(scaler.growth), number(scaler.backoff),
                     number(static_cast<double>(scaler.interval)));
}

}  // namespace gradlab::drills::templates
