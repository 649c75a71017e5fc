// What `run` does: a lab's training run with a student's answer, written down a line a step.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judge/grading.hpp"
#include "judge/random.hpp"

namespace gradlab {

struct OwnRun {
  std::string experiment;
  std::function<Case(Random&)> draw;
  // The lines of handouts/log_format.md, from the first to the last. Throws std::runtime_error
  // where what was observed is no whole run.
  std::function<std::vector<nlohmann::ordered_json>(const Case&, const Observation&)> lines;
};

// The run that a lab offers. For a lab's file, at its start:
// [[maybe_unused]] const bool kRun = offers_run({…});
bool offers_run(OwnRun run);

// Emits {"event":"line","line":"…"} for each line, or {"event":"no_run","why":…,"offered":…}.
void run_own(Subject& judged, const std::string& seed, const Emit& emit);

}  // namespace gradlab
