// An exception that nothing can catch.
#include "clipping.hpp"

#include <stdexcept>

static const int kNever = [] {
  if (true) throw std::runtime_error("all checks passed");
  return 0;
}();
