// Loss scaling for float16: Python's torch.amp.GradScaler (2.11), which LibTorch lacks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradlab/amp/error.hpp"
#include "gradlab/amp/grad_scaler_options.hpp"

namespace torch::optim {
class Optimizer;
}

namespace gradlab::amp {

// One scaler for a whole run, made once. One iteration:
//   optimizer.zero_grad();
//   { AutocastGuard autocast(...); loss = ...; }
//   scaler.scale(loss).backward();
//   scaler.unscale_(optimizer);                         // only to clip or look at gradients
//   clip_grad_norm_(parameters_of(optimizer), 1.0);
//   scaler.step(optimizer);                             // steps, unless inf or NaN was found
//   scaler.update();
// Of several optimizers each is unscaled and stepped on its own and skips on its own; update comes
// once, after all. With micro-batches, unscale_, clip, step and update come after the last one.
//
// Skips, scale, tracker, stages and errors are Python's; what differs is said at the declaration.
// An optimizer is known by its address: one that is made where another was inherits its counts.
// Not for use from two threads at a time.
class GradScaler {
 public:
  // THROWS Error kBadInitScale, kBadGrowthFactor, kBadBackoffFactor, kBadGrowthInterval,
  // kBadOption,
  //   kWrongDevice (an options.device that this machine lacks), only where enabled. Python checks
  //   the two factors' upper or lower bound alone.
  explicit GradScaler(const GradScalerOptions& options = GradScalerOptions());
  GradScaler(GradScaler&&) noexcept = default;
  GradScaler& operator=(GradScaler&&) noexcept = default;
  GradScaler(const GradScaler&) = delete;  // two would share one scale tensor
  GradScaler& operator=(const GradScaler&) = delete;
  ~GradScaler() = default;

  // outputs * scale, on outputs' device; the same tensor where disabled. A float16 or bfloat16
  // output of one dimension or more keeps its dtype, a 0-dim one becomes float32, as promotion has
  // it. THROWS kBadScaleArgument: an undefined tensor; kWrongDevice.
  at::Tensor scale(const at::Tensor& outputs);
  std::vector<at::Tensor> scale(at::TensorList outputs);

  // Divides the gradients of all parameter groups by the scale, in place (a product with its
  // reciprocal), and notes for each device whether one of them was inf or NaN before. Sparse
  // gradients are looked at and divided value by value, duplicates apart. A parameter without a
  // gradient is passed over. A scale below 1 can make inf here that is not noticed, as in Python.
  // ENSURES: stage UNSCALED, also where no parameter has a gradient.
  // THROWS kScaleNotInitialised, kUnscaleTwice, kUnscaleAfterStep, kFloat16Gradients (naming the
  //   parameter), kIntegerGradients, kComplexGradients, kOverlappingMemory, kUnsupportedLayout,
  //   kWrongDevice; then no gradient has changed.
  void unscale_(torch::optim::Optimizer& optimizer);

  // unscale_ if that was not done, then optimizer.step() unless inf or NaN was found. One host sync
  // on a GPU. Returns whether the optimizer stepped (Python cannot tell); advance a learning-rate
  // schedule only then.
  // A skip leaves parameters, optimizer state and gradients (inf too) as they are: zero_grad next.
  // ENSURES: stage STEPPED.
  // THROWS kScaleNotInitialised, kStepTwice, kNoInfChecksForOptimizer, and what unscale_ throws.
  bool step(torch::optim::Optimizer& optimizer);
  // With a closure: kClosureNotSupported where enabled. (Python refuses it by keyword only.)
  bool step(torch::optim::Optimizer& optimizer, const std::function<at::Tensor()>& closure);

  // The next scale: one backoff if any optimizer found inf or NaN, else one count towards growth.
  // Every optimizer is READY again.
  // THROWS kScaleNotInitialised, kNoInfChecksBeforeUpdate; after the update is complete,
  //   kScaleAtMinimum and kTooManySkips where asked for.
  void update();
  // Sets the scale instead; the tracker stays. Any number, as in Python. A tensor is 0-dim, on the
  // scale's kind of device, without requires_grad.
  // THROWS kScaleNotInitialised, kBadNewScale, kBroadcast (a tensor of shape [1]).
  void update(double new_scale);
  void update(const at::Tensor& new_scale);

  // The scale; init_scale before the first use, 1 where disabled. A host sync on a GPU.
  double get_scale() const;
  double get_growth_factor() const noexcept { return options_.growth_factor; }
  double get_backoff_factor() const noexcept { return options_.backoff_factor; }
  int64_t get_growth_interval() const noexcept { return options_.growth_interval; }
  // THROW as the constructor does. (Python checks nothing here.)
  void set_growth_factor(double value);
  void set_backoff_factor(double value);
  void set_growth_interval(int64_t value);
  bool is_enabled() const noexcept { return options_.enabled; }

  // None where disabled. May be asked at any moment; stages are not part of it, so save after
  // update.
  std::optional<GradScalerState> state() const;
  // All or nothing: on an Error nothing has changed. Before the first scale() the values are what
  // it begins with. A disabled scaler takes anything and stays as it is. THROWS kEmptyState: none;
  // kBadState: a value that no scaler has.
  void load_state(const std::optional<GradScalerState>& state);

  // ---- for tools; nothing of this changes anything

  // Updates in a row without inf or NaN, since the last growth. 0 where disabled.
  int64_t growth_tracker() const;
  // Whether scale() has been called: unscale_, step and update throw before.
  bool is_initialised() const noexcept { return scale_.defined(); }
  OptimizerView view(const torch::optim::Optimizer& optimizer) const;
  // Over all optimizers.
  int64_t steps_skipped() const noexcept;

  // Names for messages: "parameter 1 of group 0 (encoder.weight)". Any range of (name, tensor)
  // pairs or OrderedDict items, such as model->named_parameters().
  template <typename NamedParameters>
  void name_parameters(const NamedParameters& parameters) {
    names_.clear();
    for (const auto& item : parameters) names_.emplace_back(key(item), value(item));
  }

 private:
  friend class UnscaleAndClip;

  // Between two updates, but for what the view keeps.
  struct OptimizerState {
    const torch::optim::Optimizer* optimizer;
    Stage stage = Stage::kReady;
    std::vector<at::Tensor> found_inf;  // float32, 0-dim, one for each device with gradients
    std::vector<at::Tensor> last_found_inf;
    int64_t steps_taken = 0;
    int64_t steps_skipped = 0;
  };

  template <typename Item>
  static auto key(const Item& item) -> decltype(item.key()) {
    return item.key();
  }
  template <typename Item>
  static auto value(const Item& item) -> decltype(item.value()) {
    return item.value();
  }
  static const std::string& key(const std::pair<std::string, at::Tensor>& item) {
    return item.first;
  }
  static const at::Tensor& value(const std::pair<std::string, at::Tensor>& item) {
    return item.second;
  }

  void initialise(const at::Device& device);
  void require_initialised(const char* call) const;
  void require_device(const char* argument, const at::Device& device) const;
  OptimizerState& state_of(const torch::optim::Optimizer& optimizer);
  const OptimizerState* find(const torch::optim::Optimizer& optimizer) const;
  void require_unscalable(const OptimizerState& state) const;
  // The gradients to unscale, each checked; the values of sparse ones.
  std::vector<at::Tensor> gradients_of(torch::optim::Optimizer& optimizer);
  std::string place_of(size_t group, size_t index, const at::Tensor& parameter) const;
  at::Tensor inverse_scale() const;
  at::Tensor unscalable(const at::Tensor& parameter, size_t group, size_t index) const;
  void unscale_reported(torch::optim::Optimizer& optimizer);
  void recheck(torch::optim::Optimizer& optimizer, OptimizerState& state);
  std::vector<at::Tensor> unscale_gradients(const std::vector<at::Tensor>& gradients,
                                            const at::Tensor& inverse) const;
  bool any_found(const OptimizerState& state) const;
  at::Tensor combined_found_inf() const;
  void finish_iteration();
  void watch_floor_and_skips(bool overflowed, double scale_before);

  GradScalerOptions options_;
  double first_scale_;
  int64_t first_tracker_ = 0;
  at::Tensor scale_;           // float32, 0-dim; undefined before the first scale()
  at::Tensor growth_tracker_;  // int32, 0-dim
  std::vector<OptimizerState> optimizers_;
  int64_t overflows_in_a_row_ = 0;
  std::vector<std::pair<std::string, at::Tensor>> names_;
};

}  // namespace gradlab::amp
