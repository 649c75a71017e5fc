// What a GradScaler is made from, what a checkpoint keeps of it, and what tools see of it.
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>
#include <optional>

namespace gradlab::amp {

struct GradScalerOptions {
  // The first scale, positive and finite as a float32.
  double init_scale = 65536.0;
  // The scale is multiplied by growth_factor (> 1) after growth_interval updates in a row without
  // inf or NaN, unless that would make it inf, and by backoff_factor (in (0, 1)) at once where
  // there was one. The comparison is ==: an interval set below the tracker, or 0, never grows.
  double growth_factor = 2.0;
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000;
  // A disabled scaler hands losses through, and its step is the optimizer's.
  bool enabled = true;

  // ---- extensions: not in Python, and off here.

  // The only kind of device that losses and gradients may be on; none: wherever the first loss is.
  // (Python's argument is "cuda" unless given, and disables the scaler where there is none.)
  std::optional<c10::DeviceType> device;
  // A floor (> 0): the scale stays at it, and an overflow there makes update throw
  // kScaleAtMinimum, so that a run that only skips ends. Costs a host sync an update on a GPU.
  std::optional<double> min_scale;
  // After so many updates (> 0) in a row that found inf or NaN, update throws kTooManySkips.
  // Costs a host sync an update on a GPU.
  std::optional<int64_t> max_skips_in_a_row;
  // step looks again at gradients that unscale_ has seen: clipping or a penalty in between can make
  // NaN, which Python applies. Costs a pass over the gradients.
  bool recheck_after_unscale = false;
  // unscale_ takes float16 gradients too, for a model held in float16.
  bool allow_float16_gradients = false;
  // update(new_scale) refuses what is not positive and finite. Python takes it.
  bool strict = false;
};

// What a checkpoint holds: the five values of Python's state_dict.
struct GradScalerState {
  double scale = 0;
  double growth_factor = 0;
  double backoff_factor = 0;
  int64_t growth_interval = 0;
  int64_t growth_tracker = 0;
};

// Where an optimizer is between two updates.
enum class Stage { kReady, kUnscaled, kStepped };

// One optimizer as tools see it. To read a found_inf from a GPU is a host sync.
struct OptimizerView {
  Stage stage = Stage::kReady;
  // Since the last update: whether inf or NaN was found; none where nothing was looked at.
  std::optional<bool> found_inf;
  // The same for the last step, kept through update.
  std::optional<bool> last_found_inf;
  int64_t steps_taken = 0;
  int64_t steps_skipped = 0;
};

}  // namespace gradlab::amp
