#include "event_log.hpp"

#include <cstdio>
#include <cstdlib>

namespace event_log {

namespace amp = gradlab::amp;

namespace {

std::vector<torch::Tensor> gradients_of(const torch::optim::Optimizer& optimizer) {
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : amp::parameters_of(optimizer)) {
    gradients.push_back(parameter.grad());
  }
  return gradients;
}

std::string number(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string maybe(const std::optional<double>& value) { return value ? number(*value) : "null"; }

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Record record;
  record.step = step;
  record.loss = loss.item<double>();
  record.lr = loop.optimizer.param_groups().front().options().get_lr();
  if (loop.scaler.is_enabled()) record.scale = loop.scaler.get_scale();

  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  loop.scaler.unscale_(loop.optimizer);
  record.norm = true_norm(gradients_of(loop.optimizer), loop.scaler.get_scale(), true);
  if (loop.max_norm) {
    const auto parameters = amp::parameters_of(loop.optimizer);
    amp::clip_grad_norm_(parameters, *loop.max_norm);
    record.clipped = record.norm > 0 && *loop.max_norm / (record.norm + 1e-6) < 1;
  }
  const bool stepped = loop.scaler.step(loop.optimizer);
  if (stepped) loop.schedule.step();
  record.skipped = !stepped;
  loop.scaler.update();
  if (loop.scaler.is_enabled()) record.scale_after = loop.scaler.get_scale();
  return record;
}

std::string json_line(const Record& record) {
  std::string line = "{\"event\":\"step\"";
  line += ",\"step\":" + std::to_string(record.step);
  line += ",\"loss\":" + number(record.loss);
  line += ",\"scale\":" + maybe(record.scale);
  line += ",\"scale_after\":" + maybe(record.scale_after);
  line += ",\"norm\":" + number(record.norm);
  line += std::string(",\"clipped\":") + (record.clipped ? "true" : "false");
  line += std::string(",\"skipped\":") + (record.skipped ? "true" : "false");
  line += ",\"lr\":" + number(record.lr);
  return line + "}\n";
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  const torch::NoGradGuard no_grad;
  double squares = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    squares += gradient.to(torch::kDouble).square().sum().item<double>();
  }
  const double norm = std::sqrt(squares);
  return unscaled ? norm : norm / scale;
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
  if (!std::isfinite(record.norm)) {
    return Event{EventName::kNonfiniteGradient, Severity::kCritical};
  }
  if (baseline.updates >= kWarmUp) {
    if (record.norm > std::exp(baseline.mean + baseline.margin())) {
      return Event{EventName::kExploding, Severity::kWarning};
    }
    if (record.norm < std::exp(baseline.mean - baseline.margin())) {
      return Event{EventName::kVanishing, Severity::kWarning};
    }
  }
  baseline.accept(record.norm);
  return std::nullopt;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> findings;
  size_t last_end = 0;
  for (size_t i = 0; i < log.size();) {
    if (!log[i].skipped) {
      if (!std::isfinite(log[i].norm)) {
        findings.push_back({log[i].step, static_cast<int64_t>(log.size() - i), Cause::kNotSkipped,
                            Remedy::kRestoreCheckpoint});
        break;
      }
      ++i;
      continue;
    }
    size_t end = i;
    while (end < log.size() && log[end].skipped) ++end;

    Finding finding{log[i].step, static_cast<int64_t>(end - i), Cause::kScaleTooHigh,
                    Remedy::kNothing};
    if (end == log.size() && log[end - 1].scale_after.value_or(1) < 1) {
      finding.cause = Cause::kDiverged;
      finding.remedy = Remedy::kLowerRateOrLimit;
    } else if (!std::isfinite(log[i].loss) || (i > 0 && *log[i - 1].scale >= *log[i].scale)) {
      finding.cause = Cause::kBadBatch;
      finding.remedy = Remedy::kLookAtBatch;
    } else if (!findings.empty() && i - last_end < 10) {
      finding.remedy = Remedy::kLongerGrowthInterval;
    }
    findings.push_back(finding);
    last_end = end;
    i = end;
  }
  return findings;
}

}  // namespace event_log
