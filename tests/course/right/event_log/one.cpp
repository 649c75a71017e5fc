// As the handout tells it: values are read where they are true, text by a string stream.
#include <iomanip>
#include <sstream>

#include "event_log.hpp"

namespace event_log {

namespace amp = gradlab::amp;

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Record record;
  record.step = step;
  record.loss = loss.item<double>();
  record.lr = loop.optimizer.param_groups()[0].options().get_lr();

  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  if (loop.scaler.is_enabled()) record.scale = loop.scaler.get_scale();

  loop.scaler.unscale_(loop.optimizer);
  const auto parameters = amp::parameters_of(loop.optimizer);
  const double limit = loop.max_norm.value_or(std::numeric_limits<double>::infinity());
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  const auto norm = amp::get_total_norm(gradients);
  record.norm = norm.item<double>();
  if (loop.max_norm) {
    amp::clip_grads_with_norm_(parameters, limit, norm);
    record.clipped = limit / (record.norm + 1e-6) < 1;
  }

  const bool stepped = loop.scaler.step(loop.optimizer);
  record.skipped = !stepped;
  if (stepped) loop.schedule.step();
  loop.scaler.update();
  if (loop.scaler.is_enabled()) record.scale_after = loop.scaler.get_scale();
  return record;
}

namespace {

void write(std::ostream& out, double value) {
  if (std::isnan(value)) {
    out << "\"nan\"";
  } else if (std::isinf(value)) {
    out << (value > 0 ? "\"inf\"" : "\"-inf\"");
  } else {
    out << value;
  }
}

void write(std::ostream& out, const std::optional<double>& value) {
  if (value) {
    write(out, *value);
  } else {
    out << "null";
  }
}

}  // namespace

std::string json_line(const Record& record) {
  std::ostringstream out;
  out << std::setprecision(17) << std::boolalpha;
  out << "{\"event\": \"step\", \"step\": " << record.step << ", \"loss\": ";
  write(out, record.loss);
  out << ", \"scale\": ";
  write(out, record.scale);
  out << ", \"scale_after\": ";
  write(out, record.scale_after);
  out << ", \"norm\": ";
  write(out, record.norm);
  out << ", \"clipped\": " << record.clipped << ", \"skipped\": " << record.skipped << ", \"lr\": ";
  write(out, record.lr);
  out << "}\n";
  return out.str();
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  double sum = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    const double norm = gradient.to(torch::kFloat32).norm().item<double>();
    sum += norm * norm;
  }
  const double norm = std::sqrt(sum);
  return unscaled ? norm : norm / scale;
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
  if (!std::isfinite(record.norm)) return Event{EventName::kNonfiniteGradient, Severity::kCritical};
  const double x = log_norm(record.norm);
  if (baseline.updates >= kWarmUp) {
    if (x > baseline.mean + baseline.margin())
      return Event{EventName::kExploding, Severity::kWarning};
    if (x < baseline.mean - baseline.margin())
      return Event{EventName::kVanishing, Severity::kWarning};
  }
  baseline.accept(record.norm);
  return std::nullopt;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> findings;
  size_t previous_end = 0;
  size_t i = 0;
  while (i < log.size()) {
    if (!log[i].skipped && std::isfinite(log[i].norm)) {
      ++i;
      continue;
    }
    const size_t begin = i;
    Finding finding{log[begin].step, 0, Cause::kNotSkipped, Remedy::kRestoreCheckpoint};
    if (!log[begin].skipped) {
      finding.records = static_cast<int64_t>(log.size() - begin);
      findings.push_back(finding);
      break;
    }
    while (i < log.size() && log[i].skipped) ++i;
    finding.records = static_cast<int64_t>(i - begin);
    if (i == log.size() && log[i - 1].scale_after.value() < 1) {
      finding.cause = Cause::kDiverged;
      finding.remedy = Remedy::kLowerRateOrLimit;
    } else if (!std::isfinite(log[begin].loss) ||
               (begin > 0 && log[begin - 1].scale.value() >= log[begin].scale.value())) {
      finding.cause = Cause::kBadBatch;
      finding.remedy = Remedy::kLookAtBatch;
    } else {
      finding.cause = Cause::kScaleTooHigh;
      const bool soon = !findings.empty() && begin - previous_end < 10;
      finding.remedy = soon ? Remedy::kLongerGrowthInterval : Remedy::kNothing;
    }
    findings.push_back(finding);
    previous_end = i;
  }
  return findings;
}

}  // namespace event_log
