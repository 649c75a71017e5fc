#include "gradlab/amp/state.hpp"

#include <torch/serialize/archive.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "errors.hpp"
#include "gradlab/amp/grad_scaler.hpp"
#include "json_object.hpp"

namespace gradlab::amp {
namespace {

// Python's names.
constexpr const char* kScale = "scale";
constexpr const char* kGrowthFactor = "growth_factor";
constexpr const char* kBackoffFactor = "backoff_factor";
constexpr const char* kGrowthInterval = "growth_interval";
constexpr const char* kGrowthTracker = "_growth_tracker";

// An archive may hold a model too: the scaler's values have a folder of their own in it.
constexpr const char* kArchiveKey = "gradlab_amp_grad_scaler";
constexpr const char* kVersionKey = "version";
constexpr int64_t kVersion = 1;

int64_t whole_number(const char* key, double value) {
  // Every whole number in range is a double; what is not is caught here or by the range check.
  if (!(std::abs(value) <= std::numeric_limits<int32_t>::max()) || value != std::floor(value)) {
    throw errors::bad_state_value(key, value, "a whole number from 0 to 2147483647");
  }
  return static_cast<int64_t>(value);
}

// A state from a source of numbers by key.
template <typename Number>
GradScalerState state_from(const Number& number) {
  GradScalerState state;
  state.scale = number(kScale);
  state.growth_factor = number(kGrowthFactor);
  state.backoff_factor = number(kBackoffFactor);
  state.growth_interval = whole_number(kGrowthInterval, number(kGrowthInterval));
  state.growth_tracker = whole_number(kGrowthTracker, number(kGrowthTracker));
  return state;
}

double number_in(torch::serialize::InputArchive& archive, const char* key) {
  c10::IValue value;
  if (!archive.try_read(key, value)) throw errors::missing_key(key);
  if (value.isDouble()) return value.toDouble();
  if (value.isInt()) return static_cast<double>(value.toInt());
  throw errors::bad_state_type(key, value.tagKind());
}

}  // namespace

torch::serialize::OutputArchive& operator<<(torch::serialize::OutputArchive& archive,
                                            const GradScaler& scaler) {
  torch::serialize::OutputArchive own(archive.compilation_unit());
  own.write(kVersionKey, c10::IValue(kVersion));
  if (const auto state = scaler.state()) {
    own.write(kScale, c10::IValue(state->scale));
    own.write(kGrowthFactor, c10::IValue(state->growth_factor));
    own.write(kBackoffFactor, c10::IValue(state->backoff_factor));
    own.write(kGrowthInterval, c10::IValue(state->growth_interval));
    own.write(kGrowthTracker, c10::IValue(state->growth_tracker));
  }
  archive.write(kArchiveKey, own);
  return archive;
}

torch::serialize::InputArchive& operator>>(torch::serialize::InputArchive& archive,
                                           GradScaler& scaler) {
  if (!scaler.is_enabled()) return archive;
  torch::serialize::InputArchive own;
  if (!archive.try_read(kArchiveKey, own)) throw errors::missing_key(kArchiveKey);
  c10::IValue version;
  if (!own.try_read(kVersionKey, version)) throw errors::missing_key(kVersionKey);
  if (!version.isInt() || version.toInt() != kVersion) {
    throw errors::malformed_state("it is of a version that this library does not know");
  }
  if (own.keys().size() == 1) throw errors::empty_state();
  scaler.load_state(state_from([&](const char* key) { return number_in(own, key); }));
  return archive;
}

std::string to_json(const GradScaler& scaler) {
  const auto state = scaler.state();
  if (!state) return "{}";
  std::ostringstream out;
  out << "{\"" << kScale << "\": " << json_number(state->scale)                    //
      << ", \"" << kGrowthFactor << "\": " << json_number(state->growth_factor)    //
      << ", \"" << kBackoffFactor << "\": " << json_number(state->backoff_factor)  //
      << ", \"" << kGrowthInterval << "\": " << state->growth_interval             //
      << ", \"" << kGrowthTracker << "\": " << state->growth_tracker << "}";
  return out.str();
}

void load_json(GradScaler& scaler, const std::string& text) {
  if (!scaler.is_enabled()) return;
  const auto values = json_object(text);
  if (values.empty()) throw errors::empty_state();
  scaler.load_state(state_from([&](const char* key) {
    const auto found = values.find(key);
    if (found == values.end()) throw errors::missing_key(key);
    if (!found->second.is_number) throw errors::bad_state_type(key, found->second.in_words);
    return found->second.number;
  }));
}

}  // namespace gradlab::amp
