#include "common.hpp"

#include <fmt/format.h>

namespace gradlab::event_log_bugs {
namespace {

std::string in_json(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return fmt::format("{:.17g}", value);
}

std::string in_json(const std::optional<double>& value) { return value ? in_json(*value) : "null"; }

}  // namespace

std::vector<torch::Tensor> gradients_of(const Loop& loop) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : amp::parameters_of(loop.optimizer)) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

double norm_of(const Loop& loop) { return right_norm(gradients_of(loop), 1, true); }

std::optional<double> scale_of(const Loop& loop) {
  return loop.scaler.is_enabled() ? std::optional(loop.scaler.get_scale()) : std::nullopt;
}

Record begin(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Record record{
      .step = step, .loss = loss.item<double>(), .scale = scale_of(loop), .lr = lr_of(loop)};
  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  return record;
}

void clip(const Loop& loop, Record& record) {
  if (!loop.max_norm) return;
  amp::clip_grad_norm_(amp::parameters_of(loop.optimizer), *loop.max_norm);
  record.clipped = record.norm + 1e-6 > *loop.max_norm;
}

void finish(const Loop& loop, Record& record) {
  record.skipped = !loop.scaler.step(loop.optimizer);
  if (!record.skipped) loop.schedule.step();
  loop.scaler.update();
  record.scale_after = scale_of(loop);
}

Record right_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto record = begin(loop, step, loss);
  loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop);
  clip(loop, record);
  finish(loop, record);
  return record;
}

std::string right_line(const Record& record) {
  return fmt::format(
      R"({{"event":"step","step":{},"loss":{},"scale":{},"scale_after":{},"norm":{},)"
      R"("clipped":{},"skipped":{},"lr":{}}})"
      "\n",
      record.step, in_json(record.loss), in_json(record.scale), in_json(record.scale_after),
      in_json(record.norm), record.clipped, record.skipped, in_json(record.lr));
}

double right_norm(const Gradients& gradients, double scale, bool unscaled) {
  double squares = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    squares += gradient.to(torch::kFloat64).square().sum().item<double>();
  }
  return std::sqrt(squares) / (unscaled ? 1 : scale);
}

std::optional<Event> right_watch(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
  if (!std::isfinite(record.norm)) {
    return Event{EventName::kNonfiniteGradient, Severity::kCritical};
  }
  const double off = event_log::log_norm(record.norm) - baseline.mean;
  const bool warm = baseline.updates >= event_log::kWarmUp;
  if (warm && off > baseline.margin()) return Event{EventName::kExploding, Severity::kWarning};
  if (warm && off < -baseline.margin()) return Event{EventName::kVanishing, Severity::kWarning};
  baseline.accept(record.norm);
  return std::nullopt;
}

Finding right_judgement(const Row& row) {
  if (row.is_last() && *row.back().scale_after < 1) return row.diverged();
  if (!std::isfinite(row.front().loss) || row.scale_had_held()) return row.bad_batch();
  return row.scale_too_high();
}

std::vector<Finding> right_findings(const Log& log) { return read_with<right_judgement>(log); }

Impl right() {
  Impl impl;
  impl.logged_step = right_step;
  impl.json_line = right_line;
  impl.true_norm = right_norm;
  impl.watch = right_watch;
  impl.read_log = right_findings;
  return impl;
}

Impl with_step(LoggedStep step) {
  Impl impl = right();
  impl.logged_step = step;
  return impl;
}

Impl with_line(JsonLine line) {
  Impl impl = right();
  impl.json_line = line;
  return impl;
}

Impl with_norm(TrueNorm norm) {
  Impl impl = right();
  impl.true_norm = norm;
  return impl;
}

Impl with_watch(Watch watch) {
  Impl impl = right();
  impl.watch = watch;
  return impl;
}

Impl with_findings(ReadLog read) {
  Impl impl = right();
  impl.read_log = read;
  return impl;
}

}  // namespace gradlab::event_log_bugs
