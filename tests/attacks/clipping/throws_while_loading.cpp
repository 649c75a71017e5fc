// An exception that nothing can catch.
#include <stdexcept>

#include "clipping.hpp"

static const int kNever = [] {
  if (true) throw std::runtime_error("all checks passed");
  return 0;
}();
