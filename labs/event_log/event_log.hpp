// The contract of the event_log lab. Read it; write your answers in event_log.cpp, not here.
// The story and worked examples: handouts/event_log.md. The AMP library: handouts/amp.md.
#pragma once

#include <torch/optim/optimizer.h>
#include <torch/optim/schedulers/lr_scheduler.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gradlab/amp/amp.hpp>
#include <gradlab/contract.hpp>
#include <optional>
#include <string>
#include <vector>

namespace event_log {

// ---- given

// What is written down of one step.
struct Record {
  int64_t step = 0;  // counted from 0, skipped ones too
  double loss = 0;   // unscaled
  // What this loss was multiplied by, and the scale once update() has run; none without a scaler.
  std::optional<double> scale = std::nullopt;
  std::optional<double> scale_after = std::nullopt;
  double norm = 0;  // L2 norm of all gradients at their true size, before clipping; inf, NaN too
  bool clipped = false;  // clipping made the gradients smaller
  bool skipped = false;  // the optimizer did not step
  double lr = 0;         // that this step was taken with, of the first parameter group
};

// What a training loop holds. A loop without loss scaling has a scaler that is not enabled
// (scaler.is_enabled()), through which every loss passes as it is.
struct Loop {
  torch::optim::Optimizer& optimizer;
  gradlab::amp::GradScaler& scaler;
  torch::optim::LRScheduler& schedule;
  std::optional<double> max_norm;  // none: the gradients are not clipped
};

// The working step that you begin with: right in every line, and silent. `loss` is 0-dim, float32.
inline void training_step(const Loop& loop, const torch::Tensor& loss) {
  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  if (loop.max_norm) {
    loop.scaler.unscale_(loop.optimizer);
    const auto parameters = gradlab::amp::parameters_of(loop.optimizer);
    gradlab::amp::clip_grad_norm_(parameters, *loop.max_norm);
  }
  if (loop.scaler.step(loop.optimizer)) loop.schedule.step();
  loop.scaler.update();
}

// The decimal logarithm of a norm, of 0 too.
inline double log_norm(double norm) { return std::log10(norm + 1e-30); }

// What is usual: mean and variance of log_norm over the norms that were accepted, with weights that
// fade from the tenth on.
struct Baseline {
  double mean = 0;
  double variance = 0;
  int64_t updates = 0;  // norms accepted so far

  // REQUIRES: a finite norm.
  void accept(double norm) {
    const double rate = std::max(0.1, 1 / static_cast<double>(updates + 1));
    const double off = log_norm(norm) - mean;
    mean += rate * off;
    variance = (1 - rate) * (variance + rate * off * off);
    ++updates;
  }
  // How far from the mean is still usual, in decades (1 is a factor of 10).
  double margin() const { return std::max(2.5 * (std::sqrt(variance) + 1e-6), 1.0); }
};

// Before so many norms were accepted, nothing is unusual.
constexpr int64_t kWarmUp = 8;

enum class EventName { kSkippedStep, kNonfiniteGradient, kExploding, kVanishing };
enum class Severity { kInfo, kWarning, kCritical };
struct Event {
  EventName name;
  Severity severity;
};

enum class Cause { kScaleTooHigh, kBadBatch, kDiverged, kNotSkipped };
enum class Remedy {
  kNothing,               // update() has mended it
  kLongerGrowthInterval,  // of the scaler
  kLookAtBatch,           // and at the forward pass on it
  kLowerRateOrLimit,      // learning rate or max_norm, before the run is tried again
  kRestoreCheckpoint      // the weights are lost
};
struct Finding {
  int64_t first_step;  // Record::step of its first record
  int64_t records;     // how many it covers
  Cause cause;
  Remedy remedy;
};

// ---- yours

// Task 1. training_step, and a record of it. Weights, scale and schedule end as training_step
// leaves them. With max_norm none the norm is measured all the same.
// ENSURES: loss, scale, scale_after and lr exact, the norm within 1e-5 relative; of a skipped step
// the norm is inf or NaN. Where the norm is not finite, `clipped` is free.
// REQUIRES: one scaler for all calls of a run; float32 parameters; no norm that overflows only in
// float32.
Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss);

// Task 1. The record as one line of strict JSON: an object with the keys event (the word "step"),
// step, loss, scale, scale_after, norm, clipped, skipped and lr, ended by one '\n', the only one.
// A number reads back as the same double. JSON has no word for those that are not finite: they are
// the strings "inf", "-inf" and "nan", whatever NaN's sign. clipped and skipped are true or false,
// a scale that is none is null, or left out.
// SOURCE: RFC 8259, sections 3 and 6; PyTorch's and Python's own writers break it at NaN.
std::string json_line(const Record& record);

// Task 2. The L2 norm of these gradients at their true size, all taken as one vector; half types
// are summed in float32 or wider. backward left them multiplied by `scale`; `unscaled` says whether
// unscale_ has run since. An undefined tensor is passed over; 0 for none. Changes nothing.
// ENSURES: within 1e-5 relative. inf or NaN where a gradient holds one.
// REQUIRES: dense float32, float16 or bfloat16 gradients on the CPU; scale > 0; where a sum of
// float32 squares would overflow or vanish, the gradients are not given.
double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled);

// Task 2. The event of a record, or none, and the baseline moved on by it:
//   record                                              event               severity   accepted
//   skipped                                             kSkippedStep        kInfo      no
//   not skipped, norm inf or NaN                        kNonfiniteGradient  kCritical  no
//   after warm-up, log_norm above mean + margin         kExploding          kWarning   no
//   after warm-up, log_norm below mean - margin         kVanishing          kWarning   no
//   any other                                           none                           yes
// The first line that applies counts. "After warm-up": kWarmUp norms were accepted before; mean and
// margin are those before this record. Where nothing is accepted, the baseline stays as it is.
// ENSURES: mean and variance within 1e-9. REQUIRES: no log_norm within 1e-3 of a limit.
std::optional<Event> watch(const Record& record, Baseline& baseline);

// Task 3. What went wrong in a run, in the log's order. The log may begin at any step and may leave
// out steps. Two kinds of finding:
// - Records that were skipped, one after another in the log, are one finding. The first that
//   applies:
//     kDiverged      it reaches the log's end, and scale_after of the last record is below 1
//                    -> kLowerRateOrLimit
//     kBadBatch      the loss of its first record is inf or NaN, or the record before it was taken
//                    at the scale of its first record or a larger one -> kLookAtBatch
//     kScaleTooHigh  all else: a scale that had not been tried -> kLongerGrowthInterval if there is
//                    a finding before it and fewer than 10 records between them; else kNothing
// - A record that was not skipped although its norm is inf or NaN, and all records after it to the
//   log's end: kNotSkipped -> kRestoreCheckpoint.
// REQUIRES: steps that rise. `clipped` and `lr` are not filled in. Without a scaler, no record is
// skipped; with one, all have a scale and a scale_after, finite and above 0.
std::vector<Finding> read_log(const std::vector<Record>& log);

// One implementation of the lab: the student's, the reference's, or a known mistake's.
struct Impl {
  gradlab::Function<decltype(event_log::logged_step)> logged_step{"event_log.1"};
  gradlab::Function<decltype(event_log::json_line)> json_line{"event_log.1"};
  gradlab::Function<decltype(event_log::true_norm)> true_norm{"event_log.2"};
  gradlab::Function<decltype(event_log::watch)> watch{"event_log.2"};
  gradlab::Function<decltype(event_log::read_log)> read_log{"event_log.3"};
};

GRADLAB_CONTRACT(logged_step, json_line, true_norm, watch, read_log)

}  // namespace event_log
