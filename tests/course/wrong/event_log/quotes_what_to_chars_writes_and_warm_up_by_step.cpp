#include "event_log.hpp"

#include <charconv>

namespace event_log {

namespace amp = gradlab::amp;

static void append(std::string& line, std::string_view key, std::string_view value) {
  line += line.empty() ? "{\"" : ",\"";
  line += key;
  line += "\":";
  line += value;
}

static std::string digits(double value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  const std::string text(buffer, end);
  return std::isfinite(value) ? text : '"' + text + '"';
}

static std::optional<double> scale_of(const amp::GradScaler& scaler) {
  if (!scaler.is_enabled()) return std::nullopt;
  return scaler.get_scale();
}

static std::vector<at::Tensor> grads(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> all;
  for (const auto& p : parameters)
    if (p.grad().defined()) all.push_back(p.grad());
  return all;
}

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  const auto parameters = amp::parameters_of(loop.optimizer);
  const double lr = loop.optimizer.param_groups().at(0).options().get_lr();
  const auto scale = scale_of(loop.scaler);

  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();

  const double norm = true_norm(grads(parameters), scale.value_or(1), false);
  bool clipped = false;
  if (loop.max_norm) {
    loop.scaler.unscale_(loop.optimizer);
    const auto total = amp::clip_grad_norm_(parameters, *loop.max_norm);
    clipped = norm > 0 && ((total + 1e-6).reciprocal() * *loop.max_norm).item<double>() < 1;
  }

  const bool stepped = loop.scaler.step(loop.optimizer);
  if (stepped) {
    loop.schedule.step();
  }
  loop.scaler.update();

  return Record{.step = step,
                .loss = loss.item<double>(),
                .scale = scale,
                .scale_after = scale_of(loop.scaler),
                .norm = norm,
                .clipped = clipped,
                .skipped = !stepped,
                .lr = lr};
}

std::string json_line(const Record& record) {
  std::string line;
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  append(line, "event", "\"step\"");
  append(line, "step", std::to_string(record.step));
  append(line, "loss", digits(record.loss));
  append(line, "scale", record.scale ? digits(*record.scale) : "null");
  append(line, "scale_after", record.scale_after ? digits(*record.scale_after) : "null");
  append(line, "norm", digits(record.norm));
  append(line, "clipped", flag(record.clipped));
  append(line, "skipped", flag(record.skipped));
  append(line, "lr", digits(record.lr));
  return line + "}\n";
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  std::vector<at::Tensor> norms;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    norms.push_back(gradient.detach().to(torch::kFloat64).norm());
  }
  if (norms.empty()) return 0;
  const double total = torch::stack(norms).norm().item<double>();
  return total / (unscaled ? 1 : scale);
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  const auto verdict = [&]() -> std::optional<Event> {
    if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
    if (!std::isfinite(record.norm))
      return Event{EventName::kNonfiniteGradient, Severity::kCritical};
    if (record.step < kWarmUp) return std::nullopt;
    const double off = log_norm(record.norm) - baseline.mean;
    if (off > baseline.margin()) return Event{EventName::kExploding, Severity::kWarning};
    if (off < -baseline.margin()) return Event{EventName::kVanishing, Severity::kWarning};
    return std::nullopt;
  }();
  if (!verdict) baseline.accept(record.norm);
  return verdict;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> findings;
  auto free_since = log.begin();

  const auto judge = [&](auto first, auto last) -> std::pair<Cause, Remedy> {
    if (last == log.end() && *std::prev(last)->scale_after < 1)
      return {Cause::kDiverged, Remedy::kLowerRateOrLimit};
    if (!std::isfinite(first->loss)) return {Cause::kBadBatch, Remedy::kLookAtBatch};
    if (first != log.begin() && *std::prev(first)->scale >= *first->scale)
      return {Cause::kBadBatch, Remedy::kLookAtBatch};
    const bool soon = !findings.empty() && first - free_since < 10;
    return {Cause::kScaleTooHigh, soon ? Remedy::kLongerGrowthInterval : Remedy::kNothing};
  };

  auto at = log.begin();
  while (true) {
    at = std::find_if(at, log.end(),
                      [](const Record& r) { return r.skipped || !std::isfinite(r.norm); });
    if (at == log.end()) return findings;
    if (!at->skipped) {
      findings.push_back({at->step, log.end() - at, Cause::kNotSkipped,
                          Remedy::kRestoreCheckpoint});
      return findings;
    }
    const auto end =
        std::find_if(at, log.end(), [](const Record& r) { return !r.skipped; });
    const auto [cause, remedy] = judge(at, end);
    findings.push_back({at->step, end - at, cause, remedy});
    free_since = at = end;
  }
}

}  // namespace event_log
