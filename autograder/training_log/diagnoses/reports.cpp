// How the trainer reports: the scale of which moment stands in a line, and what it calls a skip.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

// On a skipped step the scale used is the one of the step before, and the next step's is lower. A
// line that already shows the lower one was written from get_scale() after update().
class LoggedScale : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    const bool skipped_before = std::exchange(skipped_before_, moment.skipped());
    if (facts().scale_is_after || moment.skips != 1 || !moment.skips_told) return;
    if (!moment.follows() || !moment.is_followed() || skipped_before) return;
    const auto before = moment.before->scale, now = moment.now.scale, after = moment.after->scale;
    if (!before || !now || !after || moment.after->skipped.value_or(false)) return;
    if (*now < *before && *after == *now) {
      if (late_++ == 0) first_ = moment.step();
      last_ = moment.step();
      if (shown_.size() < 2) {
        shown_.push_back(fmt::format("step {} is skipped and already shows {}; the step before {}",
                                     moment.step(), shown(*now), shown(*before)));
      }
    } else if (*now == *before && *after < *now) {
      ++right_;
    }
  }

  void finish(std::vector<Finding>& findings) override {
    if (late_ == 0 || right_ > 0) return;
    Finding told = finding("scale_logged_after", first_, last_);
    told.evidence = shown_;
    told.evidence.push_back(fmt::format("so at {} of {} skips", late_, late_));
    told.confidence = late_ >= 2 ? Confidence::kHigh : Confidence::kMedium;
    findings.push_back(told);
  }

 private:
  bool skipped_before_ = false;
  std::int64_t late_ = 0, right_ = 0, first_ = 0, last_ = 0;
  std::vector<std::string> shown_;
};

bool speaks_of_skip(const std::string& name) {
  static const std::set<std::string> kNames = {
      "skipped_step", "overflow",    "nonfinite_gradient", "gradient_overflow", "skipped",
      "skip",         "failed_step", "step_failed",        "failure",           "inf_gradient"};
  return kNames.contains(name);
}

class SkipReports : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    if (!moment.skipped()) return;
    skips_ += moment.skips;
    recent_.insert(moment.step());
    if (recent_.size() > 64) recent_.erase(recent_.begin());
    // Events are heard before the step they belong to is seen, or after it.
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (at->first != moment.step()) {
        ++at;
        continue;
      }
      count(at->second, at->first);
      at = waiting_.erase(at);
    }
  }

  void hear(const Event& event) override {
    if (event.name == "run_end") return read_counts(event);
    if (!speaks_of_skip(event.name) || !event.severity || !event.step) return;
    if (*event.severity == Severity::kInfo || event.name == "scale_at_minimum") return;
    if (recent_.contains(*event.step)) return count(event, *event.step);
    waiting_.emplace_back(*event.step, event);
    if (waiting_.size() > 64) waiting_.erase(waiting_.begin());
  }

  void finish(std::vector<Finding>& findings) override {
    if (loud_ == 0 && failures_.empty()) return;
    Finding told = finding("skips_as_failures", first_, last_);
    if (loud_ > 0) {
      told.evidence.push_back(fmt::format("{} reported as {} with severity {}",
                                          plural(loud_, "skipped step"), name_, severity_));
    }
    if (!failures_.empty()) told.evidence.push_back(failures_);
    findings.push_back(told);
  }

 private:
  void count(const Event& event, std::int64_t step) {
    if (loud_++ == 0) first_ = step;
    last_ = step;
    name_ = event.name;
    severity_ = word_of(*event.severity);
  }

  void read_counts(const Event& event) {
    for (const auto& [name, value] : event.config) {
      const bool failure =
          name == "failures" || name == "failed" || name == "errors" || name == "failed_steps";
      const auto number = number_of(value);
      if (!failure || !number || skips_ == 0 || *number != static_cast<double>(skips_)) continue;
      failures_ = fmt::format("the end of the run counts {} {}, as many as steps were skipped",
                              value, name);
    }
  }

  std::set<std::int64_t> recent_;
  std::vector<std::pair<std::int64_t, Event>> waiting_;
  std::int64_t skips_ = 0, loud_ = 0, first_ = 0, last_ = 0;
  std::string name_, severity_, failures_;
};

}  // namespace

std::unique_ptr<Detector> watch_logged_scale(const RunFacts& facts) {
  return std::make_unique<LoggedScale>(facts);
}

std::unique_ptr<Detector> watch_skip_reports(const RunFacts& facts) {
  return std::make_unique<SkipReports>(facts);
}

}  // namespace gradlab::training_log
