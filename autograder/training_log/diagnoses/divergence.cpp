// A loss that turns up for good, and whether it does so where the learning rate peaks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

constexpr double kTurned = 1.5;      // times the least smoothed loss, at the end
constexpr std::int64_t kLines = 15;  // that the rise takes at least

class Divergence : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    warm_up(moment);
    if (moment.skipped() || !moment.now.loss) return;
    const double loss = *moment.now.loss;
    if (!std::isfinite(loss)) {
      ended_bad_ = true;
      return;
    }
    ended_bad_ = false;
    last_ = moment.step();
    ++lines_;
    recent_.add(loss);
    if (!recent_.is_full()) return;
    const double smooth = recent_.median();
    if (!least_ || smooth < *least_) {
      least_ = smooth;
      spread_ = recent_.spread();
    }
    if (smooth <= 1.15 * *least_) {
      onset_ = moment.step();
      onset_line_ = lines_;
    }
    smooth_ = smooth;
  }

  void finish(std::vector<Finding>& findings) override {
    if (!least_ || *least_ <= 0) return;
    const std::int64_t rose = lines_ - onset_line_;
    const bool turned = smooth_ > kTurned * *least_ && smooth_ > *least_ + 6 * spread_;
    if (!turned || rose < (ended_bad_ ? 8 : kLines)) return;
    const bool warm = is_at_warm_up_end();
    Finding told = finding(warm ? "divergence_at_warmup_end" : "divergence", onset_, last_);
    told.evidence.push_back(fmt::format("loss {} around step {}, {} at the end{}", shown(*least_),
                                        onset_, shown(smooth_),
                                        ended_bad_ ? ", then not finite" : ""));
    if (warm) {
      told.evidence.push_back(
          fmt::format("the learning rate peaks at {} at step {}", shown(peak_), peak_step_));
    }
    told.confidence = smooth_ > 2 * *least_ ? Confidence::kHigh : Confidence::kMedium;
    findings.push_back(told);
  }

 private:
  void warm_up(const Moment& moment) {
    const auto& lr = moment.now.lr;
    if (!lr || !std::isfinite(*lr)) return;
    if (!first_lr_) {
      first_lr_ = lr;
      first_step_ = moment.step();
    }
    if (*lr > peak_) {
      peak_ = *lr;
      peak_step_ = moment.step();
      ++rises_;
    }
  }

  // From the last third of warm-up to half its length behind it.
  bool is_at_warm_up_end() const {
    if (!first_lr_ || rises_ < 6 || *first_lr_ > 0.5 * peak_) return false;
    const double length = static_cast<double>(peak_step_ - first_step_);
    const double behind = static_cast<double>(onset_ - peak_step_);
    return behind >= -0.35 * length && behind <= std::max(0.5 * length, 20.0);
  }

  Window recent_{9};
  std::optional<double> least_, first_lr_;
  double smooth_ = 0, spread_ = 0, peak_ = 0;
  std::int64_t onset_ = 0, onset_line_ = 0, lines_ = 0, last_ = 0;
  std::int64_t first_step_ = 0, peak_step_ = 0, rises_ = 0;
  bool ended_bad_ = false;
};

}  // namespace

std::unique_ptr<Detector> watch_divergence(const RunFacts& facts) {
  return std::make_unique<Divergence>(facts);
}

}  // namespace gradlab::training_log
