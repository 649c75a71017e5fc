// What a Monitor's options may be.
#pragma once

#include "gradlab/monitor/options.hpp"

namespace gradlab::monitor {

// THROWS Error kBadOption, naming the option, what it was and what it may be.
void check(const Options& options);

}  // namespace gradlab::monitor
