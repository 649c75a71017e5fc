// Logs of simulated runs, for the checks of task 3.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"

namespace gradlab::event_log_checks {

// Written record by record, as a scaler would move. Losses and norms are drawn.
class SimulatedLog {
 public:
  // `scale` none: a run without a scaler. Every `every`-th step is in the log.
  explicit SimulatedLog(Random& random, std::optional<double> scale, int64_t first_step = 0,
                        int64_t every = 1)
      : random_(random), scale_(scale), step_(first_step), every_(every) {}

  SimulatedLog& taken(size_t count = 1);
  // A step that was taken, and after which the scale doubled.
  SimulatedLog& grows();
  // Overflows, each halving the scale. A loss where it is not a usual one.
  SimulatedLog& skips(size_t count = 1, std::optional<double> loss = {});
  // Steps that were taken with gradients that are not finite, the first with a finite loss.
  SimulatedLog& lost(size_t count);

  const std::vector<event_log::Record>& records() const { return records_; }
  operator Case() const;

 private:
  void add(double loss, double norm, double factor, bool skipped);
  double usual() const;

  Random& random_;
  std::optional<double> scale_;
  int64_t step_;
  int64_t every_;
  std::vector<event_log::Record> records_;
};

// Findings that more than one check works by hand.
constexpr event_log::Finding scale_too_high(
    int64_t step, int64_t records, event_log::Remedy remedy = event_log::Remedy::kNothing) {
  return {step, records, event_log::Cause::kScaleTooHigh, remedy};
}
constexpr event_log::Finding bad_batch(int64_t step, int64_t records) {
  return {step, records, event_log::Cause::kBadBatch, event_log::Remedy::kLookAtBatch};
}

// A log, and its findings in words where they were worked by hand.
struct WorkedLog {
  Case log;
  std::optional<std::vector<event_log::Finding>> findings = {};
};
// The subject's findings of each log: those worked by hand where there are any, else the
// reference's.
void expect_findings(Subject& subject, Subject& reference, const std::vector<WorkedLog>& logs);

// Whether the contract decides this case of task 3.
bool decides_log(const Case& in);

}  // namespace gradlab::event_log_checks
