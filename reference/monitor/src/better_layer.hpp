// One layer under the better rules: a robust start, alarms with a measured deviation, creeping
// drift, levels learned anew, gradients that go missing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alarm_episode.hpp"
#include "baseline.hpp"
#include "context.hpp"
#include "numbers.hpp"

namespace gradlab::monitor {

class BetterLayer {
 public:
  BetterLayer(std::string name, std::string kind)
      : name_(std::move(name)), kind_(std::move(kind)) {}

  // A finite norm, at a check of a step that is not skipped. loss_trend: LossWatch::trend().
  void look(const Context& context, double norm, double loss_trend);
  // No gradient, while other layers have one.
  void missing(const Context& context);

  Diagnosis open() const noexcept { return episode_.open; }
  const std::string& name() const noexcept { return name_; }
  void exchange(Numbers& numbers);

 private:
  bool ready() const noexcept { return baseline_.n > 0; }
  // The logarithm of the norm; none for zero.
  Diagnosis diagnose(const Options& options, std::optional<double> x) const;
  void present(const Context& context);
  void warm_up(const Context& context, double x);
  void tell_alarm(const Context& context, Diagnosis condition, double norm) const;
  void tell_cleared(const Context& context, double norm) const;
  void relearn(const Context& context, Diagnosis condition, double x);
  void drift(const Context& context, double norm, double loss_trend);

  std::string name_, kind_;
  std::vector<double> first_;  // accepted values until there is a baseline
  Baseline baseline_;          // of log10 of the norm
  Baseline slow_;              // the same with a long memory
  Baseline changed_;           // of the values under the open alarm
  Diagnosis changed_for_ = Diagnosis::kNone;
  AlarmEpisode episode_;
  int64_t zeros_ = 0;    // in a row
  int64_t missing_ = 0;  // checks in a row without a gradient
  bool seen_ = false;    // a gradient, once
  bool told_missing_ = false;
  bool drifting_ = false;
};

}  // namespace gradlab::monitor
