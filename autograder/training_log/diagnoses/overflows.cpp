// Streaks of skipped steps: the scale finding its level, an overflow that passes, and the one that
// does not.
#include <fmt/format.h>

#include <cmath>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

// From 65536, ten halvings of calibration are common (the golden run has ten), twenty are not.
constexpr std::int64_t kLongStart = 20;
constexpr std::int64_t kLongStreak = 8;   // later, at a scale that had fitted
constexpr std::int64_t kStartSteps = 20;  // of a run, in which skips are calibration

struct Streak {
  std::int64_t first = 0, last = 0, count = 0, lines = 0;
  std::int64_t finite_losses = 0, losses = 0;
  std::int64_t same_scale = 0;  // skips that left the scale as it was
  std::optional<double> scale, scale_after;
  bool at_start = false;
};

class Overflows : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    ++lines_;
    steps_ = moment.step();
    if (lines_ == 1) first_step_ = moment.step();
    if (moment.skipped()) {
      grow(moment);
    } else if (streak_.count > 0) {
      end(true);
    }
    if (moment.now.scale && *moment.now.scale < 1e-30 && moment.skips_known) {
      if (!vanished_) vanished_ = moment.step();
    }
  }

  void finish(std::vector<Finding>& findings) override {
    const bool open = streak_.count > 0;
    if (open) end(false);
    if (collapse_.count > 0 || vanished_) return tell_collapse(findings);
    if (at_start_ > 0) {
      Finding told = finding("calibration", start_first_, start_last_);
      told.evidence.push_back(fmt::format("{} skipped in the first lines{}",
                                          plural(at_start_, "step"),
                                          scales(start_from_, start_to_)));
      findings.push_back(told);
    }
    if (later_ > 0 && recovered_) tell_single(findings);
  }

 private:
  static std::string scales(std::optional<double> from, std::optional<double> to) {
    if (!from || !to) return "";
    return fmt::format(": scale {} -> {}", shown(*from), shown(*to));
  }

  void grow(const Moment& moment) {
    const Step& now = moment.now;
    if (streak_.count == 0) {
      streak_.first = moment.step();
      streak_.scale = now.scale;
      streak_.at_start = moment.step() - first_step_ < kStartSteps && later_ == 0;
    }
    streak_.last = moment.step();
    streak_.count += moment.skips;
    ++streak_.lines;
    has_losses_ = has_losses_ || (moment.before != nullptr && moment.before->loss);
    if (!now.loss && has_losses_) ++silent_;
    if (now.loss) {
      ++streak_.losses;
      streak_.finite_losses += std::isfinite(*now.loss) ? 1 : 0;
    }
    std::optional<double> after = now.scale_after;
    if (!after && moment.after != nullptr) after = moment.after->scale;
    if (now.scale && after && *after == *now.scale && !facts().scale_is_after) ++streak_.same_scale;
    if (after) streak_.scale_after = after;
  }

  // Of a loss that is not finite the scaler's skips are a symptom; another detector tells it.
  static bool has_finite_loss(const Streak& streak) {
    return streak.losses == 0 || 2 * streak.finite_losses > streak.losses;
  }

  static bool is_collapse(const Streak& streak, bool ended) {
    if (!has_finite_loss(streak)) return false;
    const bool low = streak.scale_after && *streak.scale_after < 1;
    const bool at_floor = streak.lines >= kLongStreak && streak.same_scale >= kLongStreak &&
                          2 * streak.same_scale > streak.lines;
    if (at_floor) return true;
    if (streak.lines < kLongStreak) return false;
    if (low && streak.lines >= 12) return true;
    if (ended) return false;
    return streak.at_start ? streak.lines >= kLongStart : true;
  }

  void end(bool recovered) {
    if (is_collapse(streak_, recovered) && streak_.count > collapse_.count) collapse_ = streak_;
    if (streak_.at_start) {
      if (at_start_ == 0) {
        start_first_ = streak_.first;
        start_from_ = streak_.scale;
      }
      // A streak that the log ends in is calibration still, if it is short.
      at_start_ += streak_.count;
      start_last_ = streak_.last;
      start_to_ = streak_.scale_after;
    } else if (has_finite_loss(streak_)) {
      later_ += streak_.count;
      ++streaks_;
      if (recovered) recovered_ = true;
      if (shown_.size() < 4 && recovered) shown_.push_back(streak_);
      if (recovered && streaks_ == 1) first_later_ = streak_.first;
      last_later_ = streak_.last;
    }
    streak_ = {};
  }

  void tell_single(std::vector<Finding>& findings) const {
    Finding told = finding("single_overflow", first_later_, last_later_);
    for (const Streak& streak : shown_) {
      told.evidence.push_back(fmt::format("step {} overflowed{}",
                                          steps_text(streak.first, streak.last),
                                          scales(streak.scale, streak.scale_after)));
    }
    const double share = 100.0 * static_cast<double>(later_) /
                         static_cast<double>(std::max<std::int64_t>(steps_ - first_step_ + 1, 1));
    told.evidence.push_back(fmt::format("{} skipped after calibration, {:.2g} % of all",
                                        plural(later_, "step"), share));
    if (silent_ > 0) {
      told.evidence.emplace_back(
          "lines of skipped steps hold no loss: a NaN in it is not excluded");
      told.confidence = Confidence::kMedium;
    }
    findings.push_back(told);
  }

  void tell_collapse(std::vector<Finding>& findings) const {
    const Streak& streak = collapse_;
    Finding told = finding("scale_collapse", streak.count > 0 ? streak.first : *vanished_,
                           streak.count > 0 ? streak.last : *vanished_);
    if (streak.count > 0) {
      told.evidence.push_back(fmt::format(
          "{} skipped in a row, step {}{}", plural(streak.count, "step"),
          steps_text(streak.first, streak.last), scales(streak.scale, streak.scale_after)));
    }
    if (streak.same_scale >= kLongStreak) {
      told.evidence.push_back("skips no longer lower the scale: it is at its floor");
    }
    if (vanished_) {
      told.evidence.push_back(fmt::format(
          "from step {} the scale is too small for float32 to hold its inverse", *vanished_));
    }
    told.causes = {"an inf or NaN that no scale can cure: in the data, a division, or a parameter",
                   "gradients that are not cleared after a skip, so that the first inf stays",
                   "a learning rate or a clip threshold too high for these weights"};
    findings.push_back(told);
  }

  Streak streak_, collapse_;
  std::vector<Streak> shown_;
  bool has_losses_ = false;
  std::int64_t silent_ = 0, lines_ = 0, steps_ = 0, first_step_ = 0, later_ = 0, streaks_ = 0;
  std::int64_t at_start_ = 0, start_first_ = 0, start_last_ = 0, first_later_ = 0, last_later_ = 0;
  std::optional<double> start_from_, start_to_;
  std::optional<std::int64_t> vanished_;
  bool recovered_ = false;
};

}  // namespace

std::unique_ptr<Detector> watch_overflows(const RunFacts& facts) {
  return std::make_unique<Overflows>(facts);
}

}  // namespace gradlab::training_log
