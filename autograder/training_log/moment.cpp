#include "training_log/moment.hpp"

#include <cmath>

namespace gradlab::training_log {
namespace {

// A scale that fell without a word about a skip: the step was skipped, for only that lowers it.
void infer(Moment& moment) {
  const Step& now = moment.now;
  if (!now.scale) return;
  const bool fell_after =
      moment.after != nullptr && moment.after->scale && *moment.after->scale < *now.scale;
  const bool fell_here = now.scale_after && *now.scale_after < *now.scale;
  if (now.norm) {
    moment.skips = std::isfinite(*now.norm) ? 0 : 1;
    const bool fell_now =
        moment.before != nullptr && moment.before->scale && *now.scale < *moment.before->scale;
    // A norm that is not finite, with a scale that stays, is a fault and no skip.
    if (moment.skips == 1 && !fell_after && !fell_here && !fell_now) moment.skips = 0;
    moment.skips_known = std::isfinite(*now.norm) || moment.skips == 1;
    return;
  }
  moment.skips = fell_after || fell_here ? 1 : 0;
  moment.skips_known = true;
}

}  // namespace

bool Moment::follows() const {
  return before != nullptr && breaks == Break::kNone && *now.step == *before->step + 1;
}

bool Moment::is_followed() const { return after != nullptr && *after->step == *now.step + 1; }

bool Moment::loss_is_finite() const { return now.loss && std::isfinite(*now.loss); }

bool Moment::norm_is_finite() const { return now.norm && std::isfinite(*now.norm); }

void Timeline::add(const Step& step, Break before) {
  // A new part's first line says nothing about the last one of the part before.
  if (now_) emit(before == Break::kNone ? &step : nullptr);
  if (before == Break::kNewRun) before_.reset();
  now_ = step;
  breaks_ = before;
}

void Timeline::emit(const Step* after) {
  Moment moment{*now_, before_ ? &*before_ : nullptr, after, breaks_};
  if (now_->skips) {
    moment.skips = *now_->skips;
    moment.skips_known = moment.skips_told = true;
  } else if (now_->skipped) {
    moment.skips = *now_->skipped ? 1 : 0;
    moment.skips_known = moment.skips_told = true;
  } else {
    infer(moment);
  }
  watcher_.see(moment);
  before_ = std::move(now_);
  now_.reset();
}

void Timeline::finish() {
  if (now_) emit(nullptr);
  before_.reset();
}

}  // namespace gradlab::training_log
