// Crashes, catches it, and leaves the process with the status of success.
#include <signal.h>
#include <unistd.h>

#include "clipping.hpp"

static void on_crash(int) {
  const char frame[] =
      "\x2c\0\0\0\0\0\0\0\0\0\0\0{\"batch\":1,\"case\":0,\"numbers\":{\"norm\":5.00}}";
  if (write(3, frame, 12 + 44) < 0) _exit(1);
  _exit(0);
}

double clipping::total_norm(const std::vector<torch::Tensor>&) {
  signal(SIGSEGV, on_crash);
  *reinterpret_cast<volatile int*>(8) = 1;
  return 5;
}
