// The names that trainers give to what a step holds.
#include <cmath>
#include <unordered_map>

#include "training_log/fields.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

enum class Known {
  kStep,
  kLoss,
  kScale,
  kScaleAfter,
  kNorm,
  kLr,
  kMaxNorm,
  kTime,
  kEpoch,
  kBatch,
  kClipped,
  kSkipped,
  kSkips,
  kSkippedTotal,
  kTracker,
  kMicroBatches,
};

// Plain names, after plain_name().
const std::unordered_map<std::string_view, Known>& known_names() {
  static const std::unordered_map<std::string_view, Known> names = {
      {"step", Known::kStep},
      {"iteration", Known::kStep},
      {"iter", Known::kStep},
      {"global_step", Known::kStep},
      {"num_updates", Known::kStep},
      {"it", Known::kStep},
      {"trainer_global_step", Known::kStep},
      {"global_steps", Known::kStep},
      {"optimizer_step", Known::kStep},
      {"loss", Known::kLoss},
      {"train_loss", Known::kLoss},
      {"lm_loss", Known::kLoss},
      {"training_loss", Known::kLoss},
      {"loss_train", Known::kLoss},
      {"train_loss_step", Known::kLoss},
      {"loss_step", Known::kLoss},
      {"scale", Known::kScale},
      {"loss_scale", Known::kScale},
      {"grad_scale", Known::kScale},
      {"scaler_scale", Known::kScale},
      {"amp_scale", Known::kScale},
      {"lscale", Known::kScale},
      {"scaler", Known::kScale},
      {"scale_used", Known::kScale},
      {"scale_after", Known::kScaleAfter},
      {"new_scale", Known::kScaleAfter},
      {"norm", Known::kNorm},
      {"grad_norm", Known::kNorm},
      {"gnorm", Known::kNorm},
      {"gradient_norm", Known::kNorm},
      {"total_norm", Known::kNorm},
      {"gradnorm", Known::kNorm},
      {"global_grad_norm", Known::kNorm},
      {"grad_2.0_norm_total", Known::kNorm},
      {"grad_norm_total", Known::kNorm},
      {"grad_norm_step", Known::kNorm},
      {"norm_before_clip", Known::kNorm},
      {"lr", Known::kLr},
      {"learning_rate", Known::kLr},
      {"lr_adam", Known::kLr},
      {"lr_adamw", Known::kLr},
      {"lr_sgd", Known::kLr},
      {"max_norm", Known::kMaxNorm},
      {"max_grad_norm", Known::kMaxNorm},
      {"clip_norm", Known::kMaxNorm},
      {"grad_clip", Known::kMaxNorm},
      {"gradient_clip_val", Known::kMaxNorm},
      {"clip_grad", Known::kMaxNorm},
      {"time", Known::kTime},
      {"timestamp", Known::kTime},
      {"_timestamp", Known::kTime},
      {"epoch", Known::kEpoch},
      {"batch", Known::kBatch},
      {"batch_index", Known::kBatch},
      {"batch_idx", Known::kBatch},
      {"data_position", Known::kBatch},
      {"data_index", Known::kBatch},
      {"clipped", Known::kClipped},
      {"skipped", Known::kSkipped},
      {"skip", Known::kSkipped},
      {"is_skipped", Known::kSkipped},
      {"step_skipped", Known::kSkipped},
      {"skipped_step", Known::kSkipped},
      {"found_inf", Known::kSkipped},
      {"overflow", Known::kSkipped},
      {"number_of_skipped_iterations", Known::kSkips},
      {"skipped_iterations", Known::kSkips},
      {"skipped_total", Known::kSkippedTotal},
      {"skipped_steps", Known::kSkippedTotal},
      {"total_skipped", Known::kSkippedTotal},
      {"growth_tracker", Known::kTracker},
      {"_growth_tracker", Known::kTracker},
      {"micro_batches", Known::kMicroBatches},
      {"accumulated", Known::kMicroBatches},
      {"num_micro_batches", Known::kMicroBatches},
  };
  return names;
}

bool is_evaluation(std::string_view name) {
  for (const std::string_view start : {"eval", "val", "valid", "validation", "test", "dev"}) {
    if (name.starts_with(start) && (name.size() == start.size() || name[start.size()] == '_')) {
      return true;
    }
  }
  return false;
}

std::optional<std::int64_t> whole(double value) {
  if (!std::isfinite(value) || std::fabs(value) > 9e15) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(value));
}

// The first of a name wins: "loss" before a second "train_loss" of another meaning.
int fill(Known known, const Value& value, Step& step) {
  const auto number = value.as_number();
  if (!number) return 0;
  const auto set = [&](std::optional<double>& field) {
    const bool is_new = !field;
    if (is_new) field = number;
    return is_new ? 1 : 0;
  };
  const auto count = [&](std::optional<std::int64_t>& field) {
    if (!field) field = whole(*number);
    return 0;
  };
  switch (known) {
    case Known::kStep:
      return count(step.step);
    case Known::kLoss:
      return set(step.loss);
    case Known::kScale:
      return set(step.scale);
    case Known::kScaleAfter:
      return set(step.scale_after), 0;
    case Known::kNorm:
      return set(step.norm);
    case Known::kLr:
      return set(step.lr);
    case Known::kMaxNorm:
      return set(step.max_norm), 0;
    case Known::kTime:
      return set(step.time), 0;
    case Known::kEpoch:
      return set(step.epoch), 0;
    case Known::kBatch:
      return set(step.batch), 0;
    case Known::kClipped:
      step.clipped = *number != 0;
      return 0;
    case Known::kSkips:
      step.skips = whole(*number);
      return 1;
    case Known::kSkippedTotal:
      step.skipped_total = whole(*number);
      return 1;
    case Known::kTracker:
      return count(step.growth_tracker);
    case Known::kMicroBatches:
      return count(step.micro_batches);
    case Known::kSkipped:
      break;
  }
  // A number here is a flag in one trainer and a running total in the next; who reads several
  // lines can tell (see Assembler).
  if (value.kind == Value::Kind::kFlag) {
    step.skipped = *number != 0;
  } else {
    step.skipped_total = whole(*number);
  }
  return 1;
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain = lower(trimmed(name));
  for (char& c : plain) {
    if (c == ' ' || c == '-' || c == '/') c = '_';
  }
  for (const std::string_view start : {"train_", "training_", "metrics_"}) {
    const bool is_loss = plain == "train_loss" || plain == "training_loss";
    if (plain.starts_with(start) && !is_loss) plain.erase(0, start.size());
  }
  return plain;
}

int fill_step(const Fields& fields, Step& step) {
  int filled = 0;
  for (const auto& [name, value] : fields.all()) {
    if (name.starts_with("layers/") || name.starts_with("grad/")) {
      if (const auto norm = value.as_number()) {
        step.layers.emplace_back(name.substr(name.find('/') + 1), *norm);
      }
      continue;
    }
    const std::string plain = plain_name(name);
    if (is_evaluation(plain)) continue;
    const auto known = known_names().find(plain);
    if (known != known_names().end()) filled += fill(known->second, value, step);
  }
  return filled;
}

}  // namespace gradlab::training_log
