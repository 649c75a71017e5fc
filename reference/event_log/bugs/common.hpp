// How a known mistake becomes a whole implementation: one function is wrong, the others are right.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "event_log.hpp"
#include "judge/check_names.hpp"
#include "judge/implementations.hpp"

namespace gradlab::event_log_bugs {

using event_log::Baseline;
using event_log::Cause;
using event_log::Event;
using event_log::EventName;
using event_log::Finding;
using event_log::Impl;
using event_log::Loop;
using event_log::Record;
using event_log::Remedy;
using event_log::Severity;
using Checks = CheckNames;
using Gradients = std::vector<torch::Tensor>;
using Log = std::vector<Record>;

using LoggedStep = Record (*)(const Loop&, int64_t, const torch::Tensor&);
using JsonLine = std::string (*)(const Record&);
using TrueNorm = double (*)(const Gradients&, double, bool);
using Watch = std::optional<Event> (*)(const Record&, Baseline&);
using ReadLog = std::vector<Finding> (*)(const Log&);

Record right_step(const Loop& loop, int64_t step, const torch::Tensor& loss);
std::string right_line(const Record& record);
double right_norm(const Gradients& gradients, double scale, bool unscaled);
std::optional<Event> right_watch(const Record& record, Baseline& baseline);
std::vector<Finding> right_findings(const Log& log);

Impl right();
Impl with_step(LoggedStep step);
Impl with_line(JsonLine line);
Impl with_norm(TrueNorm norm);
Impl with_watch(Watch watch);
Impl with_findings(ReadLog read);

// ---- task 1

std::vector<torch::Tensor> gradients_of(const Loop& loop);
double norm_of(const Loop& loop);
inline double lr_of(const Loop& loop) {
  return loop.optimizer.param_groups().front().options().get_lr();
}
std::optional<double> scale_of(const Loop& loop);

// The parts of a step. After the first the gradients are scaled ones; the second goes by the
// record's norm.
Record begin(const Loop& loop, int64_t step, const torch::Tensor& loss);
void clip(const Loop& loop, Record& record);
void finish(const Loop& loop, Record& record);

// ---- task 3

// How a row of skipped records is judged: log[first] to log[end - 1], and how many records lie
// between the finding before it and this one, none for the first finding.
struct Row {
  const Log& log;
  size_t first;
  size_t end;
  std::optional<size_t> since;

  const Record& front() const { return log[first]; }
  const Record& back() const { return log[end - 1]; }
  bool is_last() const { return end == log.size(); }
  bool scale_had_held() const { return first > 0 && *log[first - 1].scale >= *front().scale; }
  bool is_soon() const { return since && *since < 10; }
  Finding found(Cause cause, Remedy remedy) const {
    return {front().step, static_cast<int64_t>(end - first), cause, remedy};
  }
  Finding diverged() const { return found(Cause::kDiverged, Remedy::kLowerRateOrLimit); }
  Finding bad_batch() const { return found(Cause::kBadBatch, Remedy::kLookAtBatch); }
  Finding scale_too_high() const {
    return found(Cause::kScaleTooHigh,
                 is_soon() ? Remedy::kLongerGrowthInterval : Remedy::kNothing);
  }
};
Finding right_judgement(const Row& row);

// Whether log[i], after a skipped record, is of the same row.
inline bool is_skipped(const Log& log, size_t i) { return log[i].skipped; }

// A reading of the log that is right but for `judge`, and for where a row goes on.
template <Finding (*judge)(const Row&), bool (*goes_on)(const Log&, size_t) = is_skipped>
std::vector<Finding> read_with(const Log& log) {
  std::vector<Finding> findings;
  size_t last_end = 0;
  for (size_t i = 0; i < log.size(); ++i) {
    if (!log[i].skipped && std::isfinite(log[i].norm)) continue;
    size_t end = i;
    if (log[i].skipped) {
      do ++end;
      while (end < log.size() && goes_on(log, end));
      const auto since = findings.empty() ? std::nullopt : std::optional(i - last_end);
      findings.push_back(judge({log, i, end, since}));
    } else {
      end = log.size();
      findings.push_back({log[i].step, static_cast<int64_t>(end - i), Cause::kNotSkipped,
                          Remedy::kRestoreCheckpoint});
    }
    last_end = end;
    i = end - 1;
  }
  return findings;
}

}  // namespace gradlab::event_log_bugs
