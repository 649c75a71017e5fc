// A batch: one experiment over some cases, answered by one process, one frame a case.
// The runner forks a child for it; the judge does the same for a known mistake.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "protocol/frame.hpp"
#include "runner/lab.hpp"

namespace gradlab {

struct Batch {
  int64_t id = 0;
  std::string experiment;
  std::vector<Case> cases;

  protocol::Frame to_frame() const;
  static Batch from_frame(const protocol::Frame& frame);
};

// Shared with the parent process, so that it can tell how long the current case has run.
struct Progress {
  std::atomic<int64_t> case_started_cpu_ns{0};
};

// One run; whatever leaves the experiment becomes part of the observation.
Observation run_case(const Experiment& experiment, const void* impl, const Case& in);

// Answers every case of the batch on `channel`, in order, stopping when the reader is gone.
void answer(const Batch& batch, const void* impl, int channel, Progress* progress);

}  // namespace gradlab
