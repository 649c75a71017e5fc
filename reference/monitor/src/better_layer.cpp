#include "better_layer.hpp"

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "loss_watch.hpp"

namespace gradlab::monitor {
namespace {

constexpr double kDeviation = 1e-6;  // of a baseline that never moved, as in the plain rules
// The median absolute deviation of a normal distribution is its standard deviation over this.
constexpr double kMadToSigma = 1.4826;
// A changed level is one where values lie within so many decades of each other.
constexpr double kSteadyDecades = 0.5;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Median and median absolute deviation: a few wild values at the start move neither.
Baseline robust_baseline(const std::vector<double>& values) {
  Baseline baseline;
  baseline.mean = median(values);
  std::vector<double> off;
  off.reserve(values.size());
  for (const double value : values) off.push_back(std::abs(value - baseline.mean));
  const double deviation = kMadToSigma * median(std::move(off));
  baseline.var = deviation * deviation;
  baseline.n = static_cast<int64_t>(values.size());
  return baseline;
}

}  // namespace

Diagnosis BetterLayer::diagnose(const Options& options, std::optional<double> x) const {
  // Never anything but zero for as long as a warm-up takes is a dead layer too.
  if (!x) {
    const bool dead = ready() || zeros_ >= std::max<int64_t>(options.warmup, 1);
    return dead ? Diagnosis::kNoGradient : Diagnosis::kNone;
  }
  if (!ready()) return Diagnosis::kNone;
  const double margin = std::clamp(options.sigma * (baseline_.deviation() + kDeviation),
                                   options.alarm_min_decades, options.alarm_max_decades);
  if (*x < baseline_.mean - margin) return Diagnosis::kVanishing;
  if (*x > baseline_.mean + margin) return Diagnosis::kExploding;
  return Diagnosis::kNone;
}

void BetterLayer::look(const Context& context, double norm, double loss_trend) {
  present(context);
  zeros_ = norm == 0 ? zeros_ + 1 : 0;
  const std::optional<double> x = norm == 0 ? std::nullopt : std::optional(std::log10(norm));
  const Diagnosis condition = diagnose(context.options, x);
  switch (episode_.see(condition, context.options.alarm_confirmations)) {
    case AlarmEpisode::Change::kOpened:
      tell_alarm(context, condition, norm);
      break;
    case AlarmEpisode::Change::kCleared:
      tell_cleared(context, norm);
      break;
    case AlarmEpisode::Change::kNothing:
      break;
  }
  if (!x) return;
  if (!ready()) {
    warm_up(context, *x);
  } else if (condition != Diagnosis::kNone) {
    relearn(context, condition, *x);
  } else {
    changed_ = Baseline();
    baseline_.update(*x, context.options.baseline_rate_floor);
    slow_.update(*x, context.options.drift_rate);
    drift(context, norm, loss_trend);
  }
}

void BetterLayer::warm_up(const Context& context, double x) {
  first_.push_back(x);
  if (static_cast<int64_t>(first_.size()) < std::max<int64_t>(context.options.warmup, 1)) return;
  baseline_ = slow_ = robust_baseline(first_);
  first_.clear();
}

void BetterLayer::tell_alarm(const Context& context, Diagnosis condition, double norm) const {
  ++context.journal.counts.alarms;
  Fields fields = {{"layer", name_},
                   {"kind", kind_},
                   {"diagnosis", std::string(monitor::name(condition))},
                   {"grad_norm", norm},
                   {"sigma", context.options.sigma}};
  if (ready()) fields.emplace_back("baseline", std::pow(10, baseline_.mean));
  if (ready() && norm != 0) {
    const double decades = std::log10(norm) - baseline_.mean;
    fields.emplace_back("decades", decades);
    fields.emplace_back("deviation", decades / (baseline_.deviation() + kDeviation));
  }
  context.tell("alarm", Severity::kWarning, std::move(fields));
}

void BetterLayer::tell_cleared(const Context& context, double norm) const {
  Fields fields = {{"layer", name_},
                   {"diagnosis", std::string(monitor::name(episode_.cleared))},
                   {"grad_norm", norm}};
  if (ready()) fields.emplace_back("baseline", std::pow(10, baseline_.mean));
  context.tell("alarm_cleared", Severity::kInfo, std::move(fields));
}

// A level that stays where it went becomes the baseline, so that the next change is seen.
void BetterLayer::relearn(const Context& context, Diagnosis condition, double x) {
  const Options& options = context.options;
  if (condition != changed_for_) changed_ = Baseline();
  changed_for_ = condition;
  changed_.update(x, options.baseline_rate_floor);
  const bool steady = changed_.deviation() < kSteadyDecades;
  if (options.relearn_after == 0 || changed_.n < options.relearn_after || !steady) return;
  ++context.journal.counts.relearned;
  context.tell("baseline_relearned", Severity::kInfo,
               {{"layer", name_},
                {"diagnosis", std::string(monitor::name(condition))},
                {"baseline", std::pow(10, baseline_.mean)},
                {"new_baseline", std::pow(10, changed_.mean)},
                {"checks", changed_.n}});
  baseline_ = slow_ = changed_;
  changed_ = Baseline();
  episode_ = AlarmEpisode();
  drifting_ = false;
}

// The fast mean follows a change that creeps, and no single check is out of place; the slow one
// stays behind. Gradients that shrink while the loss falls are what training is for.
void BetterLayer::drift(const Context& context, double norm, double loss_trend) {
  const double decades = baseline_.mean - slow_.mean;
  if (drifting_ && std::abs(decades) < context.options.drift_decades / 2) {
    drifting_ = false;
    context.tell("drift_settled", Severity::kInfo, {{"layer", name_}, {"grad_norm", norm}});
  }
  if (drifting_ || std::abs(decades) <= context.options.drift_decades) return;
  drifting_ = true;
  ++context.journal.counts.drifts;
  const bool up = decades > 0;
  const bool expected = !up && loss_trend < 0.5;
  context.tell("drift", expected ? Severity::kInfo : Severity::kWarning,
               {{"layer", name_},
                {"direction", std::string(up ? "up" : "down")},
                {"grad_norm", norm},
                {"baseline", std::pow(10, slow_.mean)},
                {"decades", decades}});
}

// ---- presence

void BetterLayer::present(const Context& context) {
  if (told_missing_) {
    context.tell("gradient_returned", Severity::kInfo, {{"layer", name_}, {"checks", missing_}});
  }
  seen_ = true;
  told_missing_ = false;
  missing_ = 0;
}

void BetterLayer::missing(const Context& context) {
  ++missing_;
  const Options& options = context.options;
  // One that never had a gradient may still be on its way: a warm-up's time.
  const int64_t patience =
      seen_ ? options.alarm_confirmations : std::max(options.warmup, options.alarm_confirmations);
  if (told_missing_ || missing_ < patience) return;
  told_missing_ = true;
  ++context.journal.counts.missing_gradients;
  context.tell("missing_gradient", Severity::kWarning,
               {{"layer", name_},
                {"kind", kind_},
                {"since", context.step - (missing_ - 1) * options.check_every},
                {"message", std::string(messages::kMissingGradient)}});
}

void BetterLayer::exchange(Numbers& numbers) {
  const std::string prefix = "layer/" + name_ + "/";
  if (!numbers.has(prefix + "n")) return;
  monitor::exchange(numbers, prefix, baseline_);
  monitor::exchange(numbers, prefix + "slow/", slow_);
  monitor::exchange(numbers, prefix + "changed/", changed_);
  numbers.choice(prefix + "changed_for", changed_for_, Diagnosis::kExploding);
  numbers.choice(prefix + "open", episode_.open, Diagnosis::kExploding);
  numbers.choice(prefix + "pending", episode_.pending, Diagnosis::kExploding);
  numbers.value(prefix + "pending_count", episode_.pending_count);
  numbers.value(prefix + "zeros", zeros_);
  numbers.value(prefix + "missing", missing_);
  numbers.value(prefix + "seen", seen_);
  numbers.value(prefix + "told_missing", told_missing_);
  numbers.value(prefix + "drifting", drifting_);
  auto count = static_cast<int64_t>(first_.size());
  numbers.value(prefix + "first/count", count);
  constexpr int64_t kMost = 1 << 20;  // a state may be anything
  first_.resize(static_cast<size_t>(std::clamp<int64_t>(count, 0, kMost)));
  for (size_t i = 0; i < first_.size(); ++i) {
    numbers.value(prefix + "first/" + std::to_string(i), first_[i]);
  }
}

}  // namespace gradlab::monitor
