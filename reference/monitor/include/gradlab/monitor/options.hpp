// What a Monitor is made with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gradlab/monitor/event.hpp"

namespace gradlab::amp {
class GradScaler;
}

namespace gradlab::monitor {

enum class Rules {
  kBetter,  // every step, and what the library's README says of them
  kPlain,   // decision by decision those of ormas-monitor 0.2.3, its faults too
};

enum class FileMode {
  kNew,        // refuse a file that is there and not empty
  kAppend,     // go on behind what is there: a run resumed
  kOverwrite,  // begin anew
};

struct Options {
  // The AMP library's scaler; null for float32 and bfloat16 loops. Needs an optimizer. REQUIRES: it
  // outlives the monitor.
  const amp::GradScaler* scaler = nullptr;
  Rules rules = Rules::kBetter;
  // Look at steps 0, N, 2N, ... (>= 1).
  int64_t check_every = 1;
  // Only layers whose name matches one of these: `*` is any text, `?` one character. None: all.
  std::vector<std::string> layers;

  // ---- the record: strict JSON lines, flushed line by line. None where empty.
  std::string path;
  FileMode mode = FileMode::kNew;
  std::string name;           // the run's, for the first line
  int64_t layers_every = 50;  // every how many checks a line has all layers' norms; 0: never

  // ---- who is told besides. Called within step(), close() or the scaler's update(). One that
  // throws is not called again, and the record says so.
  std::function<void(const Event&)> on_event;
  std::function<void(const StepRecord&)> on_step;

  // ---- thresholds of both rule sets
  int64_t warmup = 8;                // accepted checks before a layer or the loss is judged (>= 0)
  double sigma = 2.5;                // standard deviations (> 0)
  double baseline_rate_floor = 0.1;  // weight of a new value in the running mean, (0, 1]
  double alarm_min_decades = 1.0;    // a smaller change of a norm is never an alarm (>= 0)
  int64_t alarm_confirmations = 2;   // checks that must show it (>= 1)
  double loss_spike_factor = 1.5;    // (>= 1)
  int64_t layer_list_limit = 32;     // names in an event's list (>= 1)

  // ---- of Rules::kBetter
  double alarm_max_decades = 2.0;  // a larger change always counts (>= alarm_min_decades)
  double loss_sigma = 8.0;         // as sigma, for the loss, which is noisier (> 0)
  double drift_decades = 2.0;      // between the fast and the slow mean of a norm (> 0)
  double drift_rate = 0.005;       // weight of a new value in the slow mean, (0, 1)
  int64_t relearn_after = 100;   // checks at a changed level until it is the new baseline; 0: never
  int64_t skip_streak = 20;      // skips in a row that are told, then at twice as many (>= 1)
  double scale_floor = 1.0;      // an overflow at such a scale or a lower one is told (> 0)
  int64_t underflow_every = 50;  // every how many checks float16's losses are counted; 0: never
  double underflow_share = 0.5;  // of a layer's elements zero or subnormal in float16, (0, 1]

  // ormas-monitor's rules and its check_every of 50.
  static Options plain();
};

}  // namespace gradlab::monitor
