#include "sandbox/waiting.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace gradlab::sandbox {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

int milliseconds_until(Clock::time_point time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

bool wait_readable(int descriptor, std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  pollfd waiting{descriptor, POLLIN, 0};
  int ready;
  while ((ready = poll(&waiting, 1, milliseconds_until(until))) < 0 && errno == EINTR) {
  }
  return ready > 0;
}

void wait_a_tick_for(const Descriptor& pidfd) {
  if (pidfd) {
    wait_readable(pidfd.get(), kTick);
  } else {
    usleep(static_cast<useconds_t>(kTick.count()) * 1000);
  }
}

std::string read_available(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(descriptor, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace gradlab::sandbox
