// The last step of an epoch with fewer micro-batches than the others, divided by the full number:
// its gradient is too small by the missing share. Told from the norms alone where the log does not
// count micro-batches, if epoch after epoch shows the same.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

class LastWindows : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    const Step& now = moment.now;
    if (moment.skipped() || !moment.norm_is_finite() || *now.norm <= 0) return;
    const auto epoch = now.epoch ? std::optional(std::floor(*now.epoch)) : std::nullopt;
    const bool ends_epoch = epoch && moment.after != nullptr && moment.after->epoch &&
                            std::floor(*moment.after->epoch) > *epoch;
    if (now.micro_batches) counted_ = true;
    if (now.micro_batches && *now.micro_batches > full_) full_ = *now.micro_batches;
    const bool small = now.micro_batches && *now.micro_batches < full_;
    if (small || (ends_epoch && !counted_)) {
      if (recent_.count() >= 5) look(moment);
      return;
    }
    recent_.add(*now.norm);
  }

  void finish(std::vector<Finding>& findings) override {
    if (ratios_.empty()) return;
    const double middle = median_of(ratios_);
    const auto close = std::count_if(ratios_.begin(), ratios_.end(), [&](double ratio) {
      return std::fabs(ratio / middle - 1) < 0.25;
    });
    const auto count = std::ssize(ratios_);
    if (counted_) {
      // The norm has shrunk by the missing share, not by half of it: that would be fewer samples.
      const double share = median_of(shares_);
      if (count < 2 || middle > 0.5 * (1 + share) || middle < 0.6 * share) return;
    } else if (count < 3 || middle > 0.8 || 10 * below_ < 9 * count || 10 * close < 8 * count) {
      return;
    }
    Finding told = finding("small_last_window", first_, last_);
    if (counted_) {
      told.evidence.push_back(
          fmt::format("{} with fewer micro-batches than {}", plural(count, "step"), full_));
    }
    told.evidence.push_back(
        fmt::format("norm of the last step of {}: {:.2f} times that of the others",
                    plural(count, "epoch"), middle));
    told.confidence = counted_ ? Confidence::kHigh : Confidence::kMedium;
    findings.push_back(told);
  }

 private:
  void look(const Moment& moment) {
    if (ratios_.size() == 256) return;
    if (ratios_.empty()) first_ = moment.step();
    last_ = moment.step();
    ratios_.push_back(*moment.now.norm / recent_.median());
    below_ += *moment.now.norm < recent_.least() ? 1 : 0;
    if (moment.now.micro_batches) {
      shares_.push_back(static_cast<double>(*moment.now.micro_batches) /
                        static_cast<double>(full_));
    }
  }

  Window recent_{16};
  std::vector<double> ratios_, shares_;
  std::int64_t below_ = 0, full_ = 0, first_ = 0, last_ = 0;
  bool counted_ = false;
};

}  // namespace

std::unique_ptr<Detector> watch_last_windows(const RunFacts& facts) {
  return std::make_unique<LastWindows>(facts);
}

}  // namespace gradlab::training_log
