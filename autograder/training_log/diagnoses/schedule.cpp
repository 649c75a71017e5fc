// A learning rate that moves on a step the optimizer did not take. Whether a line holds the rate
// before or after the schedule's step, one of the two changes around a skip must be none.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

bool differ(double a, double b) {
  return std::fabs(a - b) > 1e-9 * std::max(std::fabs(a), std::fabs(b));
}

class Schedule : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    if (!moment.follows() || !moment.is_followed() || !moment.skips_known) return;
    const auto &before = moment.before->lr, &now = moment.now.lr, &after = moment.after->lr;
    if (!before || !now || !after) return;
    const bool moves_in = differ(*before, *now), moves_out = differ(*now, *after);
    if (moment.skips == 0) {
      // Does it move at every step? A schedule by epoch proves nothing.
      moving_ += moves_in && moves_out ? 1 : 0;
      return;
    }
    // A neighbour that was skipped too would hold the rate on its side.
    if (moves_in && moves_out) {
      if (moved_++ == 0) first_ = moment.step();
      last_ = moment.step();
      if (shown_.empty()) {
        shown_ = fmt::format("step {} is skipped; the rate goes {:.6g}, {:.6g}, {:.6g} around it",
                             moment.step(), *before, *now, *after);
      }
    } else if (moves_in != moves_out) {
      ++held_;  // where neither moved the schedule stands still
    }
  }

  void finish(std::vector<Finding>& findings) override {
    if (moved_ == 0 || held_ > 0) return;
    if (moving_ < 5) return;
    Finding told = finding("schedule_on_skips", first_, last_);
    told.evidence.push_back(shown_);
    told.evidence.push_back(fmt::format("it moved at {} of {} skips", moved_, moved_ + held_));
    told.confidence = moved_ >= 2 ? Confidence::kHigh : Confidence::kMedium;
    findings.push_back(told);
  }

 private:
  std::int64_t moving_ = 0, moved_ = 0, held_ = 0, first_ = 0, last_ = 0;
  std::string shown_;
};

}  // namespace

std::unique_ptr<Detector> watch_schedule(const RunFacts& facts) {
  return std::make_unique<Schedule>(facts);
}

}  // namespace gradlab::training_log
