// Prints without end before any task.
#include <cstdio>

#include "clipping.hpp"

__attribute__((constructor)) static void flood() {
  for (;;) std::puts("30 / 30   pass");
}
