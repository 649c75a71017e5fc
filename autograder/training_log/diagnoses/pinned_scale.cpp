// A scale that should have grown and did not. Needs to know the growth interval: from the settings,
// from the growth tracker that returns to 0, or from growth that was seen before.
#include <fmt/format.h>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

class PinnedScale : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    const Step& now = moment.now;
    if (!now.scale) return;
    const bool gap = moment.before != nullptr && moment.before->scale && !moment.follows();
    if (moment.breaks != Break::kNone) good_ = 0;
    if (scale_ && *now.scale != *scale_) {
      // Growth behind good steps alone, with nothing left out, gives the interval away.
      if (*now.scale == 2 * *scale_ && clean_ && !gap) learn(good_);
      good_ = 0;
      clean_ = true;
      resets_ = 0;
    }
    if (!top_ || *now.scale > *top_) top_ = now.scale;
    scale_ = now.scale;
    if (good_ == 0) since_ = moment.step();
    watch_tracker(now);
    if (moment.skipped()) {
      good_ = 0;
      resets_ = 0;
      tracker_.reset();
    } else {
      good_ += moment.before != nullptr && moment.breaks == Break::kNone && good_ > 0
                   ? *now.step - *moment.before->step
                   : 1;
    }
    last_ = moment.step();
  }

  void finish(std::vector<Finding>& findings) override {
    if (!scale_ || !top_ || *scale_ < *top_) return;
    const auto interval = facts().number(
        {"growth_interval", "loss_scale_window", "scale_window", "fp16_scale_window"});
    double expected = interval.value_or(0);
    if (!interval && learned_times_ >= 1) expected = static_cast<double>(learned_);
    const double needed = interval ? 2.0 : 3.0;
    const bool waited = expected >= 1 && static_cast<double>(good_) > needed * expected + 2;
    if (!waited && resets_ < 2) return;
    Finding told = finding("scale_pinned", since_, last_);
    told.evidence.push_back(
        fmt::format("scale {} through {} without a skip", shown(*scale_), plural(good_, "step")));
    if (waited) {
      told.evidence.push_back(fmt::format("{} growth interval is {} steps",
                                          interval ? "the" : "as seen before, the", expected));
    }
    if (resets_ >= 2) {
      told.evidence.push_back(fmt::format(
          "the growth tracker came to its end {} and the scale stayed", plural(resets_, "time")));
    }
    told.confidence = interval || resets_ >= 2 ? Confidence::kHigh : Confidence::kMedium;
    findings.push_back(told);
  }

 private:
  void watch_tracker(const Step& now) {
    const auto tracker = now.growth_tracker;
    if (tracker && tracker_ && *tracker_ > 0 && *tracker == 0) ++resets_;
    if (tracker) tracker_ = tracker;
  }

  void learn(std::int64_t steps) {
    if (steps < 2) return;
    learned_ = std::max(learned_, steps);
    ++learned_times_;
  }

  std::optional<double> scale_, top_;
  std::int64_t good_ = 0, since_ = 0, last_ = 0, learned_ = 0, learned_times_ = 0, resets_ = 0;
  std::optional<std::int64_t> tracker_;
  bool clean_ = false;
};

}  // namespace

std::unique_ptr<Detector> watch_pinned_scale(const RunFacts& facts) {
  return std::make_unique<PinnedScale>(facts);
}

}  // namespace gradlab::training_log
