// The event_log lab's answer: each value read at the one moment of the step at which it is true,
// and the yardstick of the checks that hold no value worked by hand.
#include <fmt/format.h>

#include <cmath>

#include "event_log.hpp"
#include "judge/implementations.hpp"

namespace {

namespace amp = gradlab::amp;
using event_log::Baseline;
using event_log::Cause;
using event_log::Event;
using event_log::EventName;
using event_log::Finding;
using event_log::Loop;
using event_log::Record;
using event_log::Remedy;
using event_log::Severity;

std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

std::optional<double> scale_of(const amp::GradScaler& scaler) {
  if (!scaler.is_enabled()) return std::nullopt;
  return scaler.get_scale();
}

// Whether clip_grad_norm_ multiplies by less than 1: its sum is one of float32.
bool shrinks(double norm, double max_norm) {
  return static_cast<float>(norm) + 1e-6F > static_cast<float>(max_norm);
}

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Record record;
  record.step = step;
  record.loss = loss.item<double>();
  record.lr = loop.optimizer.param_groups().front().options().get_lr();
  record.scale = scale_of(loop.scaler);  // before update() changes it
  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  const auto parameters = amp::parameters_of(loop.optimizer);
  // Also where nothing is clipped: the norm is measured at its true size.
  if (loop.scaler.is_enabled()) loop.scaler.unscale_(loop.optimizer);
  const auto norm = amp::get_total_norm(gradients_of(parameters));
  record.norm = norm.item<double>();
  if (loop.max_norm) {
    amp::clip_grads_with_norm_(parameters, *loop.max_norm, norm);
    record.clipped = shrinks(record.norm, *loop.max_norm);
  }
  record.skipped = !loop.scaler.step(loop.optimizer);
  if (!record.skipped) loop.schedule.step();
  loop.scaler.update();
  record.scale_after = scale_of(loop.scaler);
  return record;
}

std::string in_json(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return fmt::format("{}", value);  // the shortest digits that read back the same
}

std::string in_json(const std::optional<double>& value) { return value ? in_json(*value) : "null"; }

std::string json_line(const Record& record) {
  return fmt::format(
      "{{\"event\":\"step\",\"step\":{},\"loss\":{},\"scale\":{},\"scale_after\":{},\"norm\":{},"
      "\"clipped\":{},\"skipped\":{},\"lr\":{}}}\n",
      record.step, in_json(record.loss), in_json(record.scale), in_json(record.scale_after),
      in_json(record.norm), record.clipped, record.skipped, in_json(record.lr));
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  double squares = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    squares += gradient.to(torch::kFloat64).square().sum().item<double>();
  }
  const double norm = std::sqrt(squares);
  return unscaled ? norm : norm / scale;
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
  if (!std::isfinite(record.norm)) {
    return Event{EventName::kNonfiniteGradient, Severity::kCritical};
  }
  if (baseline.updates >= event_log::kWarmUp) {
    const double off = event_log::log_norm(record.norm) - baseline.mean;
    if (off > baseline.margin()) return Event{EventName::kExploding, Severity::kWarning};
    if (off < -baseline.margin()) return Event{EventName::kVanishing, Severity::kWarning};
  }
  baseline.accept(record.norm);
  return std::nullopt;
}

using Log = std::vector<Record>;

// Skips of log[first] to log[end - 1]; `since` records after the finding before, none for the first
// finding of all.
Finding skips(const Log& log, size_t first, size_t end, std::optional<size_t> since) {
  constexpr size_t kFew = 10;
  const auto found = [&](Cause cause, Remedy remedy) {
    return Finding{log[first].step, static_cast<int64_t>(end - first), cause, remedy};
  };
  if (end == log.size() && *log[end - 1].scale_after < 1) {
    return found(Cause::kDiverged, Remedy::kLowerRateOrLimit);
  }
  const bool scale_had_held = first > 0 && *log[first - 1].scale >= *log[first].scale;
  if (!std::isfinite(log[first].loss) || scale_had_held) {
    return found(Cause::kBadBatch, Remedy::kLookAtBatch);
  }
  const bool again_soon = since && *since < kFew;
  return found(Cause::kScaleTooHigh, again_soon ? Remedy::kLongerGrowthInterval : Remedy::kNothing);
}

std::vector<Finding> read_log(const Log& log) {
  std::vector<Finding> findings;
  size_t last_end = 0;
  for (size_t i = 0; i < log.size();) {
    if (log[i].skipped) {
      size_t end = i;
      while (end < log.size() && log[end].skipped) ++end;
      const auto since = findings.empty() ? std::nullopt : std::optional(i - last_end);
      findings.push_back(skips(log, i, end, since));
      last_end = i = end;
      continue;
    }
    if (!std::isfinite(log[i].norm)) {
      findings.push_back({log[i].step, static_cast<int64_t>(log.size() - i), Cause::kNotSkipped,
                          Remedy::kRestoreCheckpoint});
      break;
    }
    ++i;
  }
  return findings;
}

event_log::Impl answer() {
  event_log::Impl impl;
  impl.logged_step = logged_step;
  impl.json_line = json_line;
  impl.true_norm = true_norm;
  impl.watch = watch;
  impl.read_log = read_log;
  return impl;
}

[[maybe_unused]] const bool kRegistered = gradlab::set_reference(answer());

}  // namespace
