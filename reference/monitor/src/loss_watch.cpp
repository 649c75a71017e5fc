#include "loss_watch.hpp"

#include <algorithm>
#include <cmath>

#include "json_line.hpp"

namespace gradlab::monitor {
namespace {

std::string in_words(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

}  // namespace

void LossWatch::look(const Context& context, double loss, bool skipped) {
  if (!std::isfinite(loss)) {
    if (!nonfinite_) {
      ++context.journal.counts.nonfinite;
      context.tell("nonfinite_loss", Severity::kCritical, {{"value", in_words(loss)}});
    }
    nonfinite_ = true;
    return;
  }
  if (skipped) return;
  nonfinite_ = false;
  judge(context, loss);
}

bool LossWatch::spikes(const Options& options, double loss) const {
  const bool plain = options.rules == Rules::kPlain;
  // Without any warm-up the plain rules compare the first loss with 0.
  if (baseline_.n < std::max<int64_t>(options.warmup, plain ? 0 : 1)) return false;
  const double rise = loss - baseline_.mean;
  const double deviation = baseline_.deviation() + 1e-12;
  if (plain) {
    return rise > options.sigma * deviation && loss > options.loss_spike_factor * baseline_.mean;
  }
  // The same for a positive loss; relative to the loss's size where it is negative or near zero.
  return rise > options.loss_sigma * deviation &&
         rise > (options.loss_spike_factor - 1) * magnitude_.mean;
}

void LossWatch::judge(const Context& context, double loss) {
  const Options& options = context.options;
  if (spikes(options, loss)) {
    if (!spike_) {
      spike_ = true;
      changed_ = Baseline();
      ++context.journal.counts.loss_spikes;
      Fields fields = {{"value", loss}, {"baseline", baseline_.mean}};
      if (options.rules == Rules::kBetter) {
        fields.emplace_back("deviation", (loss - baseline_.mean) / (baseline_.deviation() + 1e-12));
      }
      context.tell("loss_spike", Severity::kWarning, std::move(fields));
    }
    if (options.rules == Rules::kBetter) relearn(context, loss);
    return;
  }
  if (spike_) {
    spike_ = false;
    context.tell("loss_recovered", Severity::kInfo,
                 {{"value", loss}, {"baseline", baseline_.mean}});
  }
  baseline_.update(loss, options.baseline_rate_floor);
  magnitude_.update(std::abs(loss), options.baseline_rate_floor);
  slow_.update(loss, options.drift_rate);
}

// A loss that stays where it jumped to is the new baseline after a while.
void LossWatch::relearn(const Context& context, double loss) {
  const Options& options = context.options;
  changed_.update(loss, options.baseline_rate_floor);
  if (options.relearn_after == 0 || changed_.n < options.relearn_after) return;
  ++context.journal.counts.relearned;
  context.tell(
      "loss_relearned", Severity::kInfo,
      {{"baseline", baseline_.mean}, {"new_baseline", changed_.mean}, {"checks", changed_.n}});
  baseline_ = slow_ = changed_;
  magnitude_.mean = std::abs(changed_.mean);
  spike_ = false;
}

double LossWatch::trend() const {
  if (slow_.n == 0 || slow_.mean == 0) return 1;
  return baseline_.mean / slow_.mean;
}

void exchange(Numbers& numbers, const std::string& prefix, Baseline& baseline) {
  numbers.value(prefix + "mean", baseline.mean);
  numbers.value(prefix + "var", baseline.var);
  numbers.value(prefix + "n", baseline.n);
}

void LossWatch::exchange(Numbers& numbers) {
  monitor::exchange(numbers, "loss/", baseline_);
  monitor::exchange(numbers, "loss/magnitude/", magnitude_);
  monitor::exchange(numbers, "loss/slow/", slow_);
  monitor::exchange(numbers, "loss/changed/", changed_);
  numbers.value("loss/spike", spike_);
  numbers.value("loss/nonfinite", nonfinite_);
}

}  // namespace gradlab::monitor
