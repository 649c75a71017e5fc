// A norm or a loss that moves with the loss scale. At each change of the scale the medians before
// and after it are compared, in powers of two; over all changes the slope is 1 where the value is
// scaled and 0 where it is not. One change can be chance, so they have to add up.
#include <fmt/format.h>

#include <cmath>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::size_t kSide = 24;  // values on each side of a change
constexpr std::size_t kLeast = 4;  // ... and the fewest that count
constexpr double kEnough = 2;      // powers of two in all

// One series against the scale.
class Follows {
 public:
  void add(double scale, double value, std::int64_t step) {
    if (!(value > 0) || !std::isfinite(value) || !(scale > 0)) return;
    if (scale != scale_) {
      compare();
      // Too short a stay is no side of its own: the one before it stays.
      if (after_.count() >= kLeast) {
        before_ = after_;
        before_scale_ = scale_;
      }
      after_.clear();
      compared_ = false;
      scale_ = scale;
    }
    after_.add(std::log2(value));
    if (after_.is_full()) compare();
    if (first_ < 0) first_ = step;
    last_ = step;
  }

  void finish() { compare(); }

  bool says_scaled() const {
    if (changes_ < 2 || moved_ < kEnough) return false;
    return std::fabs(slope() - 1) < 0.2 && 5 * agree_ >= 4 * changes_;
  }

  Finding told(const char* name, const char* what) const {
    Finding made = finding(name, first_, last_);
    made.evidence.push_back(
        fmt::format("the {} moved by the scale's factor at {} of {} of the scale", what, agree_,
                    plural(changes_, "change")));
    made.evidence.push_back(fmt::format("e.g. scale x{}, {} x{:.3g}", shown(std::exp2(scale_by_)),
                                        what, std::exp2(value_by_)));
    made.confidence = agree_ >= 3 ? Confidence::kHigh : Confidence::kMedium;
    return made;
  }

 private:
  // Compares what stands on both sides of the last change, once.
  void compare() {
    if (compared_ || before_.count() < kLeast || after_.count() < kLeast) return;
    compared_ = true;
    const double scale_by = std::log2(scale_) - std::log2(before_scale_);
    if (scale_by == 0) return;
    const double value_by = after_.median() - before_.median();
    ++changes_;
    moved_ += std::fabs(scale_by);
    products_ += scale_by * value_by;
    squares_ += scale_by * scale_by;
    if (std::fabs(value_by - scale_by) >= 0.5) return;
    ++agree_;
    scale_by_ = scale_by;
    value_by_ = value_by;
  }

  double slope() const { return products_ / squares_; }

  Window before_{kSide}, after_{kSide};
  double before_scale_ = 0, scale_ = 0;
  bool compared_ = false;
  double moved_ = 0, products_ = 0, squares_ = 0, scale_by_ = 0, value_by_ = 0;
  int agree_ = 0, changes_ = 0;
  std::int64_t first_ = -1, last_ = 0;
};

class ScaledValues : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    const Step& now = moment.now;
    if (!now.scale || moment.skipped()) return;
    if (now.norm) norm_.add(*now.scale, *now.norm, moment.step());
    if (now.loss) loss_.add(*now.scale, *now.loss, moment.step());
    ++count_;
    clipped_ += now.clipped.value_or(false) ? 1 : 0;
  }

  void finish(std::vector<Finding>& findings) override {
    norm_.finish();
    loss_.finish();
    if (norm_.says_scaled()) {
      Finding told = norm_.told("norm_scaled", "norm");
      if (clipped_ > 20 && 100 * clipped_ >= 98 * count_) {
        told.evidence.emplace_back("clipped at every step: the limit meets scaled gradients too");
      }
      findings.push_back(told);
    }
    if (loss_.says_scaled()) findings.push_back(loss_.told("loss_scaled", "loss"));
  }

 private:
  Follows norm_, loss_;
  std::int64_t count_ = 0, clipped_ = 0;
};

}  // namespace

std::unique_ptr<Detector> watch_scaled_values(const RunFacts& facts) {
  return std::make_unique<ScaledValues>(facts);
}

}  // namespace gradlab::training_log
