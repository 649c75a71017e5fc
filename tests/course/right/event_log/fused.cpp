// The library's fused unscale and clip; C formatting; rows are collected first, judged later.
#include <cstdio>
#include <utility>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

std::optional<double> if_enabled(const amp::GradScaler& scaler) {
  return scaler.is_enabled() ? std::optional<double>(scaler.get_scale()) : std::nullopt;
}

std::string value(std::optional<double> x) {
  if (!x) return "null";
  if (std::isnan(*x)) return "\"nan\"";
  if (std::isinf(*x)) return *x < 0 ? "\"-inf\"" : "\"inf\"";
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.17g", *x);
  return digits;
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Record r{step, loss.item<double>()};
  r.lr = loop.optimizer.param_groups().front().options().get_lr();
  loop.optimizer.zero_grad();
  auto scaled = loop.scaler.scale(loss);
  r.scale = if_enabled(loop.scaler);
  scaled.backward();
  if (loop.max_norm) {
    r.norm = amp::unscale_and_clip_(loop.scaler, loop.optimizer, *loop.max_norm).item<double>();
    r.clipped = !(*loop.max_norm / (r.norm + 1e-6) >= 1);
  } else {
    loop.scaler.unscale_(loop.optimizer);
    std::vector<torch::Tensor> gradients;
    for (auto& p : amp::parameters_of(loop.optimizer)) {
      if (p.grad().defined()) gradients.push_back(p.grad());
    }
    r.norm = amp::get_total_norm(gradients, 2.0).item<double>();
  }
  if (loop.scaler.step(loop.optimizer)) {
    loop.schedule.step();
  } else {
    r.skipped = true;
  }
  loop.scaler.update();
  r.scale_after = if_enabled(loop.scaler);
  return r;
}

std::string json_line(const Record& r) {
  char text[512];
  const int size = std::snprintf(
      text, sizeof text,
      "{\"event\":\"step\",\"step\":%lld,\"loss\":%s,\"scale\":%s,\"scale_after\":%s,"
      "\"norm\":%s,\"clipped\":%s,\"skipped\":%s,\"lr\":%s}\n",
      static_cast<long long>(r.step), value(r.loss).c_str(), value(r.scale).c_str(),
      value(r.scale_after).c_str(), value(r.norm).c_str(), r.clipped ? "true" : "false",
      r.skipped ? "true" : "false", value(r.lr).c_str());
  return std::string(text, static_cast<size_t>(size));
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  std::vector<torch::Tensor> norms;
  for (const auto& g : gradients) {
    if (g.defined()) norms.push_back(at::linalg_vector_norm(g, 2, {}, false, torch::kFloat32));
  }
  if (norms.empty()) return 0.0;
  const auto total = torch::stack(norms).norm();
  return unscaled ? total.item<double>() : (total / scale).item<double>();
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
  if (!std::isfinite(record.norm)) return Event{EventName::kNonfiniteGradient, Severity::kCritical};
  if (baseline.updates >= kWarmUp) {
    // The limits as norms.
    const double most = std::pow(10.0, baseline.mean + baseline.margin());
    const double least = std::pow(10.0, baseline.mean - baseline.margin());
    if (record.norm > most) return Event{EventName::kExploding, Severity::kWarning};
    if (record.norm + 1e-30 < least) return Event{EventName::kVanishing, Severity::kWarning};
  }
  baseline.accept(record.norm);
  return std::nullopt;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  // [first, end) of every row of bad records; what was not skipped goes on to the end.
  std::vector<std::pair<size_t, size_t>> rows;
  for (size_t i = 0; i < log.size(); ++i) {
    const bool lost = !log[i].skipped && !std::isfinite(log[i].norm);
    if (lost) {
      rows.emplace_back(i, log.size());
      break;
    }
    if (!log[i].skipped) continue;
    if (!rows.empty() && rows.back().second == i) {
      rows.back().second = i + 1;
    } else {
      rows.emplace_back(i, i + 1);
    }
  }
  std::vector<Finding> findings;
  for (size_t n = 0; n < rows.size(); ++n) {
    const auto [first, end] = rows[n];
    Finding found{log[first].step, static_cast<int64_t>(end - first), Cause::kScaleTooHigh,
                  Remedy::kNothing};
    if (!log[first].skipped) {
      found.cause = Cause::kNotSkipped;
      found.remedy = Remedy::kRestoreCheckpoint;
    } else if (end == log.size() && *log.back().scale_after < 1.0) {
      found.cause = Cause::kDiverged;
      found.remedy = Remedy::kLowerRateOrLimit;
    } else if (!std::isfinite(log[first].loss) ||
               (first != 0 && log[first - 1].scale >= log[first].scale)) {
      found.cause = Cause::kBadBatch;
      found.remedy = Remedy::kLookAtBatch;
    } else if (n > 0 && first - rows[n - 1].second < 10) {
      found.remedy = Remedy::kLongerGrowthInterval;
    }
    findings.push_back(found);
  }
  return findings;
}

}  // namespace event_log
