// A loss that is not finite, updates with gradients that are not, and gradients that are exactly 0.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

class Nonfinite : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    update(moment);
    const Step& now = moment.now;
    if (!now.loss) return;
    ++losses_;
    if (std::isfinite(*now.loss)) {
      if (bad_now_) ++recovered_;
      bad_now_ = false;
      if (!moment.skipped()) finite(*now.loss);
      return;
    }
    if (bad_ == 0) remember_first(moment);
    ++bad_;
    last_ = moment.step();
    infinite_ += std::isinf(*now.loss) ? 1 : 0;
    skipped_ += moment.skipped() ? 1 : 0;
    if (!bad_now_ && now.batch && at_batch_.size() < 1000) ++at_batch_[*now.batch];
    episodes_ += bad_now_ ? 0 : 1;
    bad_now_ = true;
    rich_ = rich_ || now.scale || now.norm || moment.skips_told;
  }

  void finish(std::vector<Finding>& findings) override {
    if (updates_ >= 1) tell_updates(findings);
    if (bad_ == 0 || climbed_) return;  // a loss that climbed to inf is a divergence
    Finding told = finding(rich_ ? "nan_without_overflow" : "nonfinite_loss", first_, last_);
    told.evidence.push_back(place_);
    told.evidence.push_back(fmt::format("not finite in {} of {}, {} of them inf", counted(bad_),
                                        plural(losses_, "line"), counted(infinite_)));
    if (rich_) explain(told);
    findings.push_back(told);
  }

 private:
  void finite(double loss) {
    if (recent_.count() >= 8) {
      const double middle = recent_.median();
      rise_ = middle > 0 ? loss / middle : 1;
    }
    recent_.add(loss);
    if (!least_ || recent_.median() < *least_) least_ = recent_.median();
  }

  void remember_first(const Moment& moment) {
    first_ = moment.step();
    const bool gap = moment.before != nullptr && *moment.before->step + 1 < moment.step();
    place_ = gap ? fmt::format("first in the steps after {} up to {}", *moment.before->step, first_)
                 : fmt::format("first at step {}", first_);
    if (moment.before != nullptr && moment.before->norm) {
      place_ += fmt::format(", the norm before it {}", shown(*moment.before->norm));
    }
    // The median of the last losses well above the least seen, and the last one higher still.
    climbed_ = recent_.count() >= 8 && least_ && *least_ > 0 && recent_.median() > 2 * *least_ &&
               rise_ > 1;
  }

  void explain(Finding& told) const {
    const bool again = std::any_of(at_batch_.begin(), at_batch_.end(),
                                   [](const auto& each) { return each.second >= 2; });
    if (again) {
      told.evidence.emplace_back("it comes again at the same part of the data");
      told.causes.emplace_back("that part of the data: an empty mask, a broken label or input");
    }
    if (2 * infinite_ > bad_) told.causes.emplace_back("a logarithm of zero in the loss");
    if (bad_now_ && skipped_ == 0) {
      told.evidence.emplace_back("it stays until the end, and steps were not skipped");
      told.causes.emplace_back("parameters that are NaN since an update just before");
    } else if (bad_now_ && bad_ > 3) {
      told.evidence.emplace_back("it stays until the end; skipping steps does not cure it");
      told.causes.emplace_back("a parameter or a buffer (BatchNorm's) that is NaN already");
    } else {
      told.evidence.push_back(
          fmt::format("{}, the loss finite again behind it", plural(episodes_, "episode")));
      told.causes.emplace_back("a batch whose mask is empty: 0/0 in the mean");
    }
    if (2 * infinite_ <= bad_) {
      told.causes.emplace_back(
          "the forward pass: log(0), a division by 0, half overflowing at 65504");
    }
    if (!bad_now_ && skipped_ == bad_) told.severity = Severity::kWarning;
  }

  void update(const Moment& moment) {
    const auto& norm = moment.now.norm;
    if (!norm || std::isfinite(*norm) || !moment.skips_told || moment.skipped()) return;
    if (updates_++ == 0) first_update_ = moment.step();
    last_update_ = moment.step();
  }

  void tell_updates(std::vector<Finding>& findings) const {
    Finding told = finding("nonfinite_update", first_update_, last_update_);
    told.evidence.push_back(
        fmt::format("{} with a norm that is not finite, and no skip", plural(updates_, "line")));
    findings.push_back(told);
  }

  std::int64_t bad_ = 0, first_ = 0, last_ = 0, infinite_ = 0, skipped_ = 0, recovered_ = 0;
  std::int64_t episodes_ = 0, losses_ = 0, updates_ = 0, first_update_ = 0, last_update_ = 0;
  bool bad_now_ = false, rich_ = false, climbed_ = false;
  double rise_ = 1;
  std::optional<double> least_;
  std::string place_;
  std::map<double, int> at_batch_;
  Window recent_{9};
};

class ZeroNorms : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    if (!moment.now.norm || moment.skipped()) return;
    if (*moment.now.norm != 0) {
      streak_ = 0;
      return;
    }
    if (streak_ == 0) began_ = moment.step();
    if (++streak_ > longest_) {
      longest_ = streak_;
      first_ = began_;
      last_ = moment.step();
    }
  }

  void finish(std::vector<Finding>& findings) override {
    if (longest_ < 3) return;
    Finding told = finding("no_gradient", first_, last_);
    told.evidence.push_back(
        fmt::format("norm exactly 0 in {} in a row, none skipped", plural(longest_, "line")));
    findings.push_back(told);
  }

 private:
  std::int64_t streak_ = 0, longest_ = 0, began_ = 0, first_ = 0, last_ = 0;
};

}  // namespace

std::unique_ptr<Detector> watch_nonfinite(const RunFacts& facts) {
  return std::make_unique<Nonfinite>(facts);
}

std::unique_ptr<Detector> watch_zero_norms(const RunFacts& facts) {
  return std::make_unique<ZeroNorms>(facts);
}

}  // namespace gradlab::training_log
