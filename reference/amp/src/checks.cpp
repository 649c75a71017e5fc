#include "checks.hpp"

#include <ATen/Context.h>

#include <cmath>
#include <limits>
#include <string>

#include "errors.hpp"

namespace gradlab::amp::checks {
namespace {

constexpr int64_t kMostSteps = std::numeric_limits<int32_t>::max();  // the tracker is an int32

// A double above the largest float32 is not turned into inf by the language, but by this.
bool positive_float(double value) {
  return value > 0 && value <= std::numeric_limits<float>::max() && static_cast<float>(value) > 0;
}

// NaN fails each of these.
bool is_growth_factor(double value) { return value > 1 && std::isfinite(value); }
bool is_backoff_factor(double value) { return value > 0 && value < 1; }
bool is_steps(int64_t value) { return value >= 0 && value <= kMostSteps; }

}  // namespace

float to_float(double value) {
  if (std::abs(value) <= std::numeric_limits<float>::max() || std::isnan(value)) {
    return static_cast<float>(value);
  }
  return std::copysign(std::numeric_limits<float>::infinity(),
                       static_cast<float>(std::copysign(1.0, value)));
}

void growth_factor(double value) {
  if (!is_growth_factor(value)) throw errors::bad_growth_factor(value);
}

void backoff_factor(double value) {
  if (!is_backoff_factor(value)) throw errors::bad_backoff_factor(value);
}

void growth_interval(int64_t value) {
  if (!is_steps(value)) throw errors::bad_growth_interval(value);
}

void new_scale(double value) {
  if (!positive_float(value)) throw errors::bad_new_scale(value);
}

void options(const GradScalerOptions& options) {
  if (!positive_float(options.init_scale)) throw errors::bad_init_scale(options.init_scale);
  growth_factor(options.growth_factor);
  backoff_factor(options.backoff_factor);
  growth_interval(options.growth_interval);
  if (options.min_scale && !positive_float(*options.min_scale)) {
    throw errors::bad_option("min_scale", *options.min_scale, "positive and finite, or none");
  }
  if (options.min_scale && *options.min_scale > options.init_scale) {
    throw errors::bad_option("min_scale", *options.min_scale, "at most init_scale");
  }
  if (options.max_skips_in_a_row && *options.max_skips_in_a_row < 1) {
    throw errors::bad_option("max_skips_in_a_row", static_cast<double>(*options.max_skips_in_a_row),
                             "1 or more, or none");
  }
  if (options.device == c10::DeviceType::CUDA && !at::hasCUDA()) {
    throw errors::device_unavailable("cuda");
  }
}

void state(const GradScalerState& state) {
  if (!(state.scale >= 0)) {
    throw errors::bad_state_value("scale", state.scale, "0 or more (inf too)");
  }
  if (!is_growth_factor(state.growth_factor)) {
    throw errors::bad_state_value("growth_factor", state.growth_factor, "above 1 and finite");
  }
  if (!is_backoff_factor(state.backoff_factor)) {
    throw errors::bad_state_value("backoff_factor", state.backoff_factor, "between 0 and 1");
  }
  if (!is_steps(state.growth_interval)) {
    throw errors::bad_state_value("growth_interval", static_cast<double>(state.growth_interval),
                                  "from 0 to 2147483647");
  }
  if (!is_steps(state.growth_tracker)) {
    throw errors::bad_state_value("_growth_tracker", static_cast<double>(state.growth_tracker),
                                  "from 0 to 2147483647");
  }
}

}  // namespace gradlab::amp::checks
