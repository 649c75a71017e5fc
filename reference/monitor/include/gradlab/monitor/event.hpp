// What a monitor tells: events about training, and a record for each step. handouts/log_format.md
// has the same as lines of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gradlab::monitor {

enum class Severity { kInfo, kWarning, kCritical };

// "info", "warning", "critical".
const char* name(Severity severity) noexcept;

using Value = std::variant<bool, int64_t, double, std::string, std::vector<std::string>>;

struct Event {
  std::string name;  // "alarm", "skipped_step", ...
  Severity severity = Severity::kInfo;
  int64_t step = 0;
  std::vector<std::pair<std::string, Value>> fields;  // in the order of the record

  // The field of that name; null where there is none.
  const Value* find(std::string_view field) const;
};

// The norm of a layer's gradients, true magnitude.
using LayerNorms = std::vector<std::pair<std::string, double>>;

// One step; what is not known is none. Numbers may be inf or NaN.
struct StepRecord {
  int64_t step = 0;                          // from 0, the skipped ones too
  std::optional<double> loss;                // unscaled
  std::optional<double> scale, scale_after;  // used by this step's backward; after update
  std::optional<double> norm;                // L2, all gradients, true magnitude, before clipping
  std::optional<bool> clipped;               // multiplied by a factor below 1
  std::optional<double> max_norm;
  std::optional<bool> skipped;  // an optimizer did not step
  std::optional<double> lr;     // of the first optimizer's first group
  std::optional<int64_t> growth_tracker;
  int64_t skipped_total = 0;
  LayerNorms layers;
};

// How often something was told since the start, or since the state that was loaded was made.
struct Counts {
  int64_t alarms = 0;
  int64_t loss_spikes = 0;
  int64_t nonfinite = 0;  // episodes of gradients or of the loss
  int64_t skipped_steps = 0;
  int64_t checks_without_gradients = 0;
  // Only by Rules::kBetter:
  int64_t missing_gradients = 0;
  int64_t drifts = 0;
  int64_t relearned = 0;
  int64_t underflows = 0;
  int64_t late_checks = 0;
  int64_t errors = 0;

  // visit(name, count) for each; Self is Counts or const Counts.
  template <typename Self, typename Visit>
  static void each(Self& counts, const Visit& visit) {
    visit("alarms", counts.alarms);
    visit("loss_spikes", counts.loss_spikes);
    visit("nonfinite", counts.nonfinite);
    visit("skipped_steps", counts.skipped_steps);
    visit("checks_without_gradients", counts.checks_without_gradients);
    visit("missing_gradients", counts.missing_gradients);
    visit("drifts", counts.drifts);
    visit("relearned", counts.relearned);
    visit("underflows", counts.underflows);
    visit("late_checks", counts.late_checks);
    visit("errors", counts.errors);
  }
};

}  // namespace gradlab::monitor
