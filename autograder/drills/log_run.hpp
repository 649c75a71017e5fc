// A training run that never ran, for questions about its log: losses, gradients, GradScaler's
// arithmetic, and one thing that goes wrong.
#pragma once

#include <string>
#include <vector>

#include "drills/formulas.hpp"
#include "drills/random.hpp"

namespace gradlab::drills {

struct LoggedStep {
  int step = 0;
  double loss = 0;
  double norm = 0;   // before clipping; inf or NaN where the gradients are
  double scale = 0;  // that backward used
  double scale_after = 0;
  double lr = 0;
  bool skipped = false;
};

struct LogRun {
  std::string cause;  // as the catalogue of training_log names it
  double max_norm = 1;
  Scaler scaler;  // as the run began
  std::vector<LoggedStep> steps;
  int event = 0;  // the step at which it shows first
};

// The causes that a run can be made for.
const std::vector<std::string>& log_causes();
// REQUIRES: one of them.
LogRun log_run(const std::string& cause, Random& random);
// Some overflows, and growth every few good steps.
LogRun busy_run(Random& random);

// Lines for a person, "step 12   loss 2.3140   norm 0.812   scale 65536   skipped", of `count`
// steps from `first`. With the learning rate where asked for.
std::vector<std::string> shown_lines(const LogRun& run, int first, int count, bool with_lr = false);

}  // namespace gradlab::drills
