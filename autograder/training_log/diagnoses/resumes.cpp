// A scale or a growth tracker that begins anew in the middle of a run. update() only doubles or
// halves, so a scale that jumps further was put there.
#include <fmt/format.h>

#include <cmath>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::int64_t kWatched = 20;  // lines behind a resume in which skips are its price

class Resumes : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    const Step& now = moment.now;
    if (!first_scale_) first_scale_ = now.scale;
    if (found_ && watched_ < kWatched) {
      ++watched_;
      if (watched_ > 0 && moment.skipped()) skips_ += moment.skips;
    }
    if (!found_ && moment.before != nullptr) look(moment);
    skipped_before_ = moment.skips;
    moment_before_after_ = now.scale_after;
  }

  void finish(std::vector<Finding>& findings) override {
    if (!found_) return;
    const bool clear = skips_ > 0 || restarted_ || tracker_lost_;
    if (!clear) return;
    Finding told = finding("resume_without_scaler", step_, step_);
    told.evidence.push_back(what_);
    if (skips_ > 0) {
      told.evidence.push_back(fmt::format("{} skipped right behind it", plural(skips_, "step")));
    }
    told.confidence =
        (restarted_ && skips_ > 0) || tracker_lost_ ? Confidence::kHigh : Confidence::kMedium;
    findings.push_back(told);
  }

 private:
  double initial_scale() const {
    const auto set = facts().number({"init_scale", "initial_scale", "initial_scale_power"});
    return set && *set > 64 ? *set : first_scale_.value_or(65536);
  }

  void look(const Moment& moment) {
    const Step &before = *moment.before, &now = moment.now;
    if (!before.scale || !now.scale) return;
    const bool marked = moment.breaks == Break::kResumed;
    const bool same_scale = *now.scale == *before.scale;
    if (marked && same_scale && before.growth_tracker && now.growth_tracker) {
      tracker_lost_ =
          *before.growth_tracker >= 5 && *now.growth_tracker <= 1 && skipped_before_ == 0;
      if (!tracker_lost_) return;
      found_ = true;
      step_ = moment.step();
      what_ = fmt::format("the growth tracker was {} at step {} and {} after the resume",
                          *before.growth_tracker, *before.step, *now.growth_tracker);
      return;
    }
    double from = moment_before_after_.value_or(*before.scale), to = *now.scale;
    // Where the line before tells the scale used, a jump shows within the line.
    if (now.scale_after && *now.scale_after > 2.02 * *now.scale) {
      from = *now.scale;
      to = *now.scale_after;
    }
    if (!(from > 0) || !(to > 0)) return;
    const double gap = static_cast<double>(std::max<std::int64_t>(moment.step() - *before.step, 1));
    const double interval = facts().number({"growth_interval", "loss_scale_window"}).value_or(2000);
    const double could_grow = std::exp2(1 + std::floor(gap / std::max(interval, 1.0)));
    const double by = to / from;
    const bool initial = to == initial_scale() || to == 65536;
    const bool impossible = by > 1.01 * could_grow;
    // Down to the initial scale without a skip: by more than one halving, or at a marked resume.
    const bool fell = by < 0.99 && moment.skips == 0 && skipped_before_ == 0 && initial &&
                      (marked || by < 0.4) && gap < 2;
    const bool up_at_mark = marked && by > 1.01 && initial;
    if (!impossible && !fell && !up_at_mark) return;
    found_ = true;
    restarted_ = initial && (marked || impossible || fell);
    step_ = moment.step();
    skips_ = moment.skips;
    what_ = fmt::format("scale {} up to step {}, {} from step {} on{}", shown(from), *before.step,
                        shown(to), moment.step(), marked ? ", where the run resumed" : "");
  }

  std::optional<double> first_scale_, moment_before_after_;
  bool found_ = false, restarted_ = false, tracker_lost_ = false;
  std::int64_t step_ = 0, skips_ = 0, watched_ = 0, skipped_before_ = 0;
  std::string what_;
};

}  // namespace

std::unique_ptr<Detector> watch_resumes(const RunFacts& facts) {
  return std::make_unique<Resumes>(facts);
}

}  // namespace gradlab::training_log
