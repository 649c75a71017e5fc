// Elements by loops and pointers, digits found by trying, indices everywhere.
#include <cstdlib>
#include <string>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

// The fewest digits that read back the same.
std::string text_of(double value) {
  if (value != value) return "\"nan\"";
  if (value > 1.7976931348623157e308) return "\"inf\"";
  if (value < -1.7976931348623157e308) return "\"-inf\"";
  char text[64];
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof(text), "%.*e", digits, value);
    if (strtod(text, nullptr) == value) break;
  }
  return text;
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Record out;
  out.step = step;
  out.loss = *loss.detach().const_data_ptr<float>();
  out.lr = loop.optimizer.param_groups()[0].options().get_lr();
  if (loop.scaler.is_enabled()) out.scale = loop.scaler.get_scale();
  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  if (loop.scaler.is_enabled()) loop.scaler.unscale_(loop.optimizer);
  float sum = 0;
  for (auto& group : loop.optimizer.param_groups()) {
    for (auto& p : group.params()) {
      if (!p.grad().defined()) continue;
      auto g = p.grad().contiguous();
      for (int64_t i = 0; i < g.numel(); ++i) {
        sum += g.const_data_ptr<float>()[i] * g.const_data_ptr<float>()[i];
      }
    }
  }
  out.norm = std::sqrt(sum);
  if (loop.max_norm) {
    float factor = static_cast<float>(*loop.max_norm) / (static_cast<float>(out.norm) + 1e-6f);
    if (factor < 1) {
      out.clipped = true;
      for (auto& group : loop.optimizer.param_groups()) {
        for (auto& p : group.params()) {
          if (p.grad().defined()) p.mutable_grad() *= factor;
        }
      }
    }
  }
  out.skipped = !loop.scaler.step(loop.optimizer);
  if (!out.skipped) loop.schedule.step();
  loop.scaler.update();
  if (out.scale) out.scale_after = loop.scaler.get_scale();
  return out;
}

std::string json_line(const Record& record) {
  std::string s = "{\"event\":\"step\",\"step\":";
  s += std::to_string(record.step);
  s += ",\"loss\":";
  s += text_of(record.loss);
  if (record.scale.has_value()) {
    s += ",\"scale\":";
    s += text_of(record.scale.value());
  }
  if (record.scale_after.has_value()) {
    s += ",\"scale_after\":";
    s += text_of(record.scale_after.value());
  }
  s += ",\"norm\":";
  s += text_of(record.norm);
  if (record.clipped) {
    s += ",\"clipped\":true";
  } else {
    s += ",\"clipped\":false";
  }
  if (record.skipped) {
    s += ",\"skipped\":true";
  } else {
    s += ",\"skipped\":false";
  }
  s += ",\"lr\":";
  s += text_of(record.lr);
  s.push_back('}');
  s.push_back('\n');
  return s;
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  float sum = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    auto flat = gradient.to(torch::kFloat).reshape(-1);
    for (int64_t i = 0; i < flat.size(0); ++i) {
      float x = flat[i].item<float>();
      sum += x * x;
    }
  }
  double norm = std::sqrt(sum);
  if (!unscaled) norm /= scale;
  return norm;
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped) {
    Event event;
    event.name = EventName::kSkippedStep;
    event.severity = Severity::kInfo;
    return event;
  }
  if (record.norm != record.norm || record.norm > 1.7e308) {
    Event event;
    event.name = EventName::kNonfiniteGradient;
    event.severity = Severity::kCritical;
    return event;
  }
  double x = log_norm(record.norm);
  double low = baseline.mean - baseline.margin();
  double high = baseline.mean + baseline.margin();
  if (baseline.updates >= kWarmUp && (x < low || x > high)) {
    Event event;
    event.name = x < low ? EventName::kVanishing : EventName::kExploding;
    event.severity = Severity::kWarning;
    return event;
  }
  // The baseline's own formula, once more.
  double rate = 1.0 / double(baseline.updates + 1);
  if (rate < 0.1) rate = 0.1;
  double d = x - baseline.mean;
  baseline.mean = baseline.mean + rate * d;
  baseline.variance = (1 - rate) * (baseline.variance + rate * d * d);
  baseline.updates = baseline.updates + 1;
  return std::nullopt;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  int n = int(log.size());
  std::vector<Finding> findings;
  int end_of_last = -1;
  for (int i = 0; i < n; i++) {
    if (!log[i].skipped && !std::isfinite(log[i].norm)) {
      Finding f;
      f.first_step = log[i].step;
      f.records = n - i;
      f.cause = Cause::kNotSkipped;
      f.remedy = Remedy::kRestoreCheckpoint;
      findings.push_back(f);
      return findings;
    }
    bool starts = log[i].skipped && (i == 0 || !log[i - 1].skipped);
    if (!starts) continue;
    int j = i;
    while (j + 1 < n && log[j + 1].skipped) j++;
    Finding f;
    f.first_step = log[i].step;
    f.records = j - i + 1;
    f.cause = Cause::kScaleTooHigh;
    f.remedy = Remedy::kNothing;
    if (end_of_last >= 0 && i - end_of_last - 1 < 10) f.remedy = Remedy::kLongerGrowthInterval;
    if (i > 0 && log[i - 1].scale.value() >= log[i].scale.value()) f.cause = Cause::kBadBatch;
    if (!std::isfinite(log[i].loss)) f.cause = Cause::kBadBatch;
    if (j == n - 1 && log[j].scale_after.value() < 1) f.cause = Cause::kDiverged;
    if (f.cause == Cause::kBadBatch) f.remedy = Remedy::kLookAtBatch;
    if (f.cause == Cause::kDiverged) f.remedy = Remedy::kLowerRateOrLimit;
    findings.push_back(f);
    end_of_last = j;
  }
  return findings;
}

}  // namespace event_log
