// What every rule is handed: where it tells, under which options, at which step.
#pragma once

#include <cstdint>

#include "gradlab/monitor/options.hpp"
#include "journal.hpp"

namespace gradlab::monitor {

struct Context {
  Journal& journal;
  const Options& options;
  int64_t step;

  void tell(const char* name, Severity severity, Fields fields) const {
    journal.event(name, severity, step, std::move(fields));
  }
};

}  // namespace gradlab::monitor
