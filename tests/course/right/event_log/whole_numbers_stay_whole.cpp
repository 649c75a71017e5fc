// JSON with whole numbers as such; the step's skip seen in the scaler's view; a finding at a time.
#include <cstdio>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

double norm_of(const torch::optim::Optimizer& optimizer) {
  double squares = 0;
  for (const auto& p : amp::parameters_of(optimizer)) {
    if (!p.grad().defined()) continue;
    squares += p.grad().to(torch::kDouble).square().sum().item<double>();
  }
  return std::sqrt(squares);
}

void add(std::string& line, const std::string& key, double value) {
  line += ",\"" + key + "\":";
  char text[40];
  if (std::isnan(value)) {
    line += "\"nan\"";
  } else if (std::isinf(value)) {
    line += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else if (std::abs(value) < 1e15 && value == std::floor(value)) {
    line += std::to_string(static_cast<long long>(value));
  } else {
    std::snprintf(text, sizeof text, "%.17g", value);
    line += text;
  }
}

struct Range {
  size_t first, end;
};

std::optional<Range> next_row(const std::vector<Record>& log, size_t from) {
  for (size_t i = from; i < log.size(); ++i) {
    if (log[i].skipped) {
      size_t end = i + 1;
      while (end < log.size() && log[end].skipped) ++end;
      return Range{i, end};
    }
    if (!std::isfinite(log[i].norm)) return Range{i, log.size()};
  }
  return std::nullopt;
}

Finding finding(const std::vector<Record>& log, size_t first, size_t end,
                std::optional<size_t> free_from) {
  const auto& r = log[first];
  Finding found{r.step, static_cast<int64_t>(end - first), Cause::kNotSkipped,
                Remedy::kRestoreCheckpoint};
  if (!r.skipped) return found;
  if (end == log.size() && *log.back().scale_after < 1) {
    found.cause = Cause::kDiverged;
    found.remedy = Remedy::kLowerRateOrLimit;
    return found;
  }
  const bool new_scale = first == 0 || *log[first - 1].scale < *r.scale;
  if (std::isfinite(r.loss) && new_scale) {
    found.cause = Cause::kScaleTooHigh;
    found.remedy =
        free_from && first - *free_from < 10 ? Remedy::kLongerGrowthInterval : Remedy::kNothing;
    return found;
  }
  found.cause = Cause::kBadBatch;
  found.remedy = Remedy::kLookAtBatch;
  return found;
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  const amp::GradScaler& scaler = loop.scaler;
  Record record;
  record.step = step;
  record.lr = loop.optimizer.param_groups().front().options().get_lr();
  record.loss = double(loss.item<float>());
  if (scaler.is_enabled()) record.scale = scaler.get_scale();
  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  loop.scaler.unscale_(loop.optimizer);
  record.norm = norm_of(loop.optimizer);
  if (loop.max_norm) {
    amp::clip_grad_norm_(amp::parameters_of(loop.optimizer), *loop.max_norm);
    record.clipped = norm_of(loop.optimizer) < record.norm;
  }
  const auto skipped_so_far = scaler.view(loop.optimizer).steps_skipped;
  loop.scaler.step(loop.optimizer);
  record.skipped = scaler.view(loop.optimizer).steps_skipped > skipped_so_far;
  if (!record.skipped) loop.schedule.step();
  loop.scaler.update();
  if (scaler.is_enabled()) record.scale_after = scaler.get_scale();
  return record;
}

std::string json_line(const Record& record) {
  std::string line = R"({"event":"step","step":)" + std::to_string(record.step);
  add(line, "lr", record.lr);
  add(line, "norm", record.norm);
  add(line, "loss", record.loss);
  if (record.scale) add(line, "scale", *record.scale);
  if (record.scale_after) add(line, "scale_after", *record.scale_after);
  line += std::string(R"(,"clipped":)") + (record.clipped ? "true" : "false");
  line += std::string(R"(,"skipped":)") + (record.skipped ? "true" : "false");
  return line += "}\n";
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  const double one_over = unscaled ? 1 : 1 / scale;
  std::vector<torch::Tensor> norms{torch::zeros({}, torch::kFloat64)};
  for (const auto& gradient : gradients) {
    if (gradient.defined()) norms.push_back((gradient.to(torch::kFloat64) * one_over).norm());
  }
  return torch::stack(norms).norm().item<double>();
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{.name = EventName::kSkippedStep, .severity = Severity::kInfo};
  if (!(std::abs(record.norm) < HUGE_VAL)) {
    return Event{.name = EventName::kNonfiniteGradient, .severity = Severity::kCritical};
  }
  if (baseline.updates >= kWarmUp) {
    // How many times the usual norm.
    const double usual = std::pow(10.0, baseline.mean);
    const double factor = std::pow(10.0, baseline.margin());
    const double norm = record.norm + 1e-30;
    if (norm > usual * factor) {
      return Event{.name = EventName::kExploding, .severity = Severity::kWarning};
    }
    if (norm * factor < usual) {
      return Event{.name = EventName::kVanishing, .severity = Severity::kWarning};
    }
  }
  baseline.accept(record.norm);
  return {};
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> findings;
  std::optional<size_t> free_from;
  for (size_t at = 0; auto next = next_row(log, at);) {
    const auto [first, end] = *next;
    findings.push_back(finding(log, first, end, free_from));
    free_from = at = end;
  }
  return findings;
}

}  // namespace event_log
