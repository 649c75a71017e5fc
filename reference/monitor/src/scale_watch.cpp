#include "scale_watch.hpp"

#include <string>

#include "errors.hpp"

namespace gradlab::monitor {

void ScaleWatch::look(const Context& context, bool skipped, double scale) {
  const Options& options = context.options;
  if (!skipped) {
    streak_ = next_told_ = 0;
    at_floor_ = false;
    return;
  }
  ++streak_;
  if (next_told_ == 0) next_told_ = options.skip_streak;
  if (streak_ == next_told_) {
    next_told_ *= 2;
    context.tell(
        "skip_streak", Severity::kWarning,
        {{"streak", streak_}, {"scale", scale}, {"message", std::string(messages::kSkipStreak)}});
  }
  if (scale > options.scale_floor || at_floor_) return;
  at_floor_ = true;
  context.tell("scale_at_floor", Severity::kCritical,
               {{"scale", scale},
                {"floor", options.scale_floor},
                {"message", std::string(messages::kScaleAtFloor)}});
}

void ScaleWatch::exchange(Numbers& numbers) {
  numbers.value("scale/streak", streak_);
  numbers.value("scale/next_told", next_told_);
  numbers.value("scale/at_floor", at_floor_);
}

}  // namespace gradlab::monitor
