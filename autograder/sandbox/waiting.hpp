// Clocks and waiting for descriptors, of a running box.
#pragma once

#include <sys/time.h>

#include <chrono>
#include <string>

#include "sandbox/descriptor.hpp"

namespace gradlab::sandbox {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC: setting the date changes no limit

inline constexpr auto kTick = std::chrono::milliseconds(10);  // between looks, without a pidfd

double seconds(const timeval& time);
int milliseconds_until(Clock::time_point time);  // for poll; 0 when it is over

// False: not within that time.
bool wait_readable(int descriptor, std::chrono::milliseconds time);
// For a tick at most. Without one, which kernels before 5.3 do not give, all of it.
void wait_a_tick_for(const Descriptor& pidfd);

std::string read_available(int descriptor);  // REQUIRES: O_NONBLOCK

}  // namespace gradlab::sandbox
