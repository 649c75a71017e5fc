// Watches the gradients of a training loop, layer by layer, and keeps its record.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradlab/monitor/error.hpp"
#include "gradlab/monitor/event.hpp"
#include "gradlab/monitor/layers.hpp"
#include "gradlab/monitor/options.hpp"

namespace torch::optim {
class Optimizer;
}

namespace gradlab::monitor {

// One for a whole run, made before the loop:
//   Monitor monitor(model, optimizer, options);
//   for (...) {
//     optimizer.zero_grad();
//     loss = ...;  scaler.scale(loss).backward();
//     scaler.unscale_(optimizer);          // where the loop has it
//     monitor.step(loss);                  // after backward and unscale_, before the optimizer
//     clip_grad_norm_(...);  scaler.step(optimizer);  scaler.update();
//   }
//   monitor.close();
// Norms are true magnitudes: those of gradients that are still scaled are divided by the scale.
// It holds the parameters, not the model, and reads gradients only. A step's record is written
// where the scaler's update ends, else by the next step() or close(). It learns of the AMP
// library's calls through amp::set_observer: an observer put in place before the monitor is passed
// on to and must outlive it; while one put in place later hides the calls, clipping is not known.
//
// Not for use from two threads at a time. With an accumulation window one step() a window.
class Monitor {
 public:
  // THROWS Error kNoParameters (no layer, or an undefined parameter), kScalerWithoutOptimizer,
  //   kNullOptimizer, kBadOption, kNoLayerMatches, kRecordExists, kRecordNotWritable.
  // REQUIRES: optimizers and scaler outlive the monitor, or close().
  Monitor(const Model& model, torch::optim::Optimizer& optimizer, const Options& options = {});
  Monitor(const Model& model, const std::vector<torch::optim::Optimizer*>& optimizers,
          const Options& options = {});
  explicit Monitor(const Model& model, const Options& options = {});
  Monitor(Monitor&&) noexcept;
  Monitor& operator=(Monitor&&) noexcept;
  // Closes.
  ~Monitor();

  // Looks at the gradients as they are now. The loss: any floating or integer tensor, unscaled; of
  // several elements the mean counts; undefined for none. Throws nothing, reads it (a host sync).
  void step(const at::Tensor& loss = {}) noexcept;
  void step(double loss) noexcept;

  // Writes the last step and the record's end. Later calls do nothing.
  void close() noexcept;

  int64_t steps() const noexcept;   // calls of step()
  int64_t checks() const noexcept;  // those that looked at gradients
  const Counts& counts() const noexcept;
  // What the last check read; layers without a gradient are left out.
  const LayerNorms& norms() const noexcept;
  std::optional<double> loss() const noexcept;
  // Layers with an open alarm, each with its diagnosis.
  std::vector<std::pair<std::string, std::string>> alarms() const;

  // Everything that the rules have learned, as a JSON object of numbers, to be saved beside the
  // model. load_state takes it all or nothing; layers that it does not know start anew.
  // THROWS Error kBadState: no such object, cut short, of another rule set.
  std::string state() const;
  void load_state(const std::string& json);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gradlab::monitor
