// The loss beside its own baseline: spikes, recoveries, inf and NaN.
#pragma once

#include <string>

#include "baseline.hpp"
#include "context.hpp"
#include "numbers.hpp"

namespace gradlab::monitor {

// SOURCE of the plain rules: ormas-monitor 0.2.3.
class LossWatch {
 public:
  // One loss of a checked step. On a skipped step only what is not finite is told.
  void look(const Context& context, double loss, bool skipped);
  // The loss now over the loss of long ago, below 1 where it falls; 1 where there is none.
  double trend() const;
  void exchange(Numbers& numbers);

 private:
  bool spikes(const Options& options, double loss) const;
  void judge(const Context& context, double loss);
  void relearn(const Context& context, double loss);

  Baseline baseline_;
  Baseline magnitude_;  // of |loss|: a mean near zero says nothing of the loss's size
  Baseline slow_;
  Baseline changed_;  // of what came since a spike began
  bool spike_ = false;
  bool nonfinite_ = false;
};

void exchange(Numbers& numbers, const std::string& prefix, Baseline& baseline);

}  // namespace gradlab::monitor
