// Hangs before any task.
#include "clipping.hpp"

static volatile int turns = 0;
__attribute__((constructor)) static void loop() {
  for (;;) turns = turns + 1;
}
