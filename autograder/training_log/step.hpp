// What every format is read into: the steps of a run and the events between them. A field that the
// log does not hold is empty; a value that is NaN or infinite is a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gradlab::training_log {

enum class Severity { kInfo, kWarning, kCritical };
const char* word_of(Severity severity);                        // "info", "warning", "critical"
std::optional<Severity> severity_of(const std::string& word);  // also "error", "warn"

struct Step {
  std::optional<std::int64_t> step;  // iteration (batch window), from 0, skipped ones too
  std::optional<double> loss;        // unscaled, if the trainer logs it so
  std::optional<double> scale;       // used for this step's backward
  std::optional<double> scale_after;
  std::optional<double> norm;  // L2 norm of all gradients, before clipping
  std::optional<double> lr;
  std::optional<double> max_norm;
  std::optional<double> time;   // seconds, unix
  std::optional<double> epoch;  // may be a fraction
  std::optional<double> batch;  // which part of the data: an index that comes again each epoch
  std::optional<bool> clipped;
  std::optional<bool> skipped;
  std::optional<std::int64_t>
      skips;  // of the steps since the last line, where lines stand for many
  std::optional<std::int64_t> skipped_total;
  std::optional<std::int64_t> growth_tracker;
  std::optional<std::int64_t> micro_batches;           // accumulated into this step
  std::vector<std::pair<std::string, double>> layers;  // norms
  std::string bad_layers;      // whose gradients are not finite, as a skip's event names them
  bool inferred_step = false;  // the line has no number of its own
  bool earlier_skip = false;   // a running mean beside the value says so (Swin)
  std::uint64_t line = 0;      // from 1; 0 for none
};

using Config = std::vector<std::pair<std::string, std::string>>;

struct Event {
  std::string name;  // run_start, run_end, skipped_step, loss_spike, …
  std::optional<Severity> severity;
  std::optional<std::int64_t> step;
  std::optional<double> scale, scale_after;  // of an overflow
  std::string layers;                        // of a skip: where it was not finite, "fc1, fc2"
  std::string text;                          // what else the line says, for people
  Config config;                             // of run_start; the counts of run_end
  std::uint64_t line = 0;
};

// Where readers put what they understood.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;
  virtual void step(Step step) = 0;
  virtual void event(Event event) = 0;
};

}  // namespace gradlab::training_log
