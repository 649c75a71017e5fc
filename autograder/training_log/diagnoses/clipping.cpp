// Clipping that always fires, never does, or was already done when the norm was logged.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::int64_t kAlwaysSteps = 50, kNeverSteps = 200, kPileSteps = 20;

class Clipping : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    const Step& now = moment.now;
    if (now.max_norm && *now.max_norm > 0) logged_limit_ = now.max_norm;
    if (moment.skipped() || !moment.norm_is_finite()) return;
    const double norm = *now.norm;
    if (count_ == 0) first_ = moment.step();
    last_ = moment.step();
    ++count_;
    least_ = count_ == 1 ? norm : std::min(least_, norm);
    pile_up(norm);
    norms_.add(norm);
    const auto limit = this->limit();
    if (limit && norm > *limit * 1.0001) ++above_;
    if (limit && std::fabs(norm - *limit) <= 2e-3 * *limit) ++at_limit_;
    if (now.clipped) {
      ++flags_;
      clipped_ += *now.clipped ? 1 : 0;
      if (*now.clipped && limit && norm <= *limit * 1.0001) ++clipped_below_;
    }
  }

  void finish(std::vector<Finding>& findings) override {
    if (count_ == 0) return;
    if (norm_after_clip(findings)) return;
    const bool flagged = flags_ > 0;
    const std::int64_t of = flagged ? flags_ : count_;
    const std::int64_t fired = flagged ? clipped_ : above_;
    const auto limit = this->limit();
    if (!flagged && !limit) return;
    if (of >= kAlwaysSteps && 100 * fired >= 98 * of) {
      Finding told = finding("clip_always", first_, last_);
      told.evidence.push_back(
          fmt::format("clipped at {} of {} steps", counted(fired), counted(of)));
      told.evidence.push_back(fmt::format("median norm lately {}{}", shown(norms_.median()),
                                          limit ? ", limit " + shown(*limit) : ""));
      told.causes = {"the limit is below what these gradients normally measure",
                     "clipping before unscale_: the limit is compared with scaled gradients"};
      findings.push_back(told);
    } else if (of >= kNeverSteps && fired == 0 && limit && top_ > 0 && *limit >= 10 * top_) {
      Finding told = finding("clip_never", first_, last_);
      told.evidence.push_back(fmt::format("largest norm of {} steps {}, limit {}", counted(count_),
                                          shown(top_), shown(*limit)));
      findings.push_back(told);
    }
  }

 private:
  std::optional<double> limit() const {
    if (facts().max_norm) return facts().max_norm;
    if (logged_limit_) return logged_limit_;
    const auto set = facts().number(
        {"max_norm", "max_grad_norm", "grad_clip", "clip_norm", "gradient_clip_val", "clip_grad"});
    return set && *set > 0 ? set : std::nullopt;
  }

  // How many norms are the largest one: a limit makes a ceiling, nature does not.
  void pile_up(double norm) {
    if (count_ == 1 || norm > top_ * 1.0001) {
      top_ = norm;
      at_top_ = 0;
    }
    if (norm >= top_ * 0.9995) ++at_top_;
  }

  static bool is_usual_limit(double value) {
    for (const double usual : {0.01, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 35.0}) {
      if (std::fabs(value - usual) <= 1e-3 * usual) return true;
    }
    return false;
  }

  bool norm_after_clip(std::vector<Finding>& findings) const {
    const auto limit = this->limit();
    const bool flags_say = limit && clipped_ >= 5 && 20 * clipped_below_ >= 19 * clipped_;
    const bool varies = least_ < 0.9 * top_;
    // A fifth of the norms at the ceiling; some must be below, or they are all one value.
    const bool piled = count_ >= kPileSteps && at_top_ >= 10 && 5 * at_top_ >= count_ && varies;
    const bool at_known =
        limit && above_ == 0 && 5 * at_limit_ >= count_ && at_limit_ >= 10 && count_ >= kPileSteps;
    const bool at_unknown = !limit && piled && is_usual_limit(top_);
    if (!flags_say && !at_known && !at_unknown) return false;
    Finding told = finding("norm_after_clip", first_, last_);
    told.evidence.push_back(fmt::format("no norm of {} is above {}, and {} are there",
                                        counted(count_), shown(limit.value_or(top_)),
                                        counted(limit ? at_limit_ : at_top_)));
    if (flags_say) {
      told.evidence.push_back(fmt::format("{} are marked as clipped with a norm below the limit",
                                          plural(clipped_below_, "step")));
    }
    told.confidence = at_unknown ? Confidence::kMedium : Confidence::kHigh;
    findings.push_back(told);
    return true;
  }

  std::optional<double> logged_limit_;
  std::int64_t count_ = 0, first_ = 0, last_ = 0, above_ = 0, at_limit_ = 0, at_top_ = 0;
  std::int64_t flags_ = 0, clipped_ = 0, clipped_below_ = 0;
  double top_ = 0, least_ = 0;
  Window norms_{101};
};

}  // namespace

std::unique_ptr<Detector> watch_clipping(const RunFacts& facts) {
  return std::make_unique<Clipping>(facts);
}

}  // namespace gradlab::training_log
