// Ranges, lambdas that are called at once, and a log that is read from its end.
#include <iomanip>
#include <numeric>
#include <ranges>
#include <sstream>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

std::string named(double value) {
  return std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  const auto scale_now = [&]() -> std::optional<double> {
    if (loop.scaler.is_enabled()) return loop.scaler.get_scale();
    return {};
  };
  const double lr = loop.optimizer.param_groups().front().options().get_lr();
  loop.optimizer.zero_grad(/*set_to_none=*/false);
  loop.scaler.scale(loss).backward();
  loop.scaler.unscale_(loop.optimizer);
  const auto parameters = amp::parameters_of(loop.optimizer);
  const double norm = [&] {
    auto defined = parameters | std::views::transform([](const auto& p) { return p.grad(); }) |
                   std::views::filter([](const auto& g) { return g.defined(); });
    std::vector<torch::Tensor> gradients(defined.begin(), defined.end());
    return amp::get_total_norm(gradients).item<double>();
  }();
  const bool clipped = [&] {
    if (!loop.max_norm) return false;
    amp::clip_grad_norm_(parameters, *loop.max_norm);
    return std::min(1.0, *loop.max_norm / (norm + 1e-6)) < 1.0;
  }();
  const auto scale = scale_now();
  const bool skipped = !loop.scaler.step(loop.optimizer);
  loop.scaler.update();
  if (!skipped) loop.schedule.step();
  return {.step = step,
          .loss = loss.item<double>(),
          .scale = scale,
          .scale_after = scale_now(),
          .norm = norm,
          .clipped = clipped,
          .skipped = skipped,
          .lr = lr};
}

std::string json_line(const Record& record) {
  std::vector<std::string> fields;
  const auto field = [&](const std::string& name, auto value) {
    std::ostringstream out;
    out << std::setprecision(18) << std::boolalpha << '"' << name << "\":";
    if constexpr (std::is_same_v<decltype(value), std::optional<double>>) {
      value ? out << *value : out << "null";
      if (value && !std::isfinite(*value)) out.str('"' + name + "\":" + named(*value));
    } else if constexpr (std::is_floating_point_v<decltype(value)>) {
      std::isfinite(value) ? out << value : out << named(value);
    } else {
      out << value;
    }
    fields.push_back(out.str());
  };
  field("event", "\"step\"");
  field("step", record.step);
  field("loss", record.loss);
  field("scale", record.scale);
  field("scale_after", record.scale_after);
  field("norm", record.norm);
  field("clipped", record.clipped);
  field("skipped", record.skipped);
  field("lr", record.lr);
  const auto joined = std::accumulate(fields.begin() + 1, fields.end(), fields.front(),
                                      [](auto left, auto right) { return left + "," + right; });
  return "{" + joined + "}\n";
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  const double squares = std::accumulate(
      gradients.begin(), gradients.end(), 0.0, [](double sum, const torch::Tensor& g) {
        return g.defined() ? sum + g.to(at::kDouble).mul(g.to(at::kDouble)).sum().item<double>()
                           : sum;
      });
  return std::sqrt(squares) * (unscaled ? 1.0 : 1.0 / scale);
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
  if (!std::isfinite(record.norm)) return Event{EventName::kNonfiniteGradient, Severity::kCritical};
  // Tries it on a copy of the baseline.
  Baseline next = baseline;
  next.accept(record.norm);
  const double off = log_norm(record.norm) - baseline.mean;
  if (baseline.updates < kWarmUp || std::abs(off) <= baseline.margin()) {
    std::swap(next, baseline);
    return std::nullopt;
  }
  return Event{off < 0 ? EventName::kVanishing : EventName::kExploding, Severity::kWarning};
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  auto lost = std::ranges::find_if(
      log, [](const Record& r) { return !r.skipped && !std::isfinite(r.norm); });
  const auto sound_until = static_cast<size_t>(lost - log.begin());
  // From the end to the start: rows come out in reverse.
  std::vector<std::array<size_t, 2>> rows;
  for (size_t i = sound_until; i-- > 0;) {
    if (!log[i].skipped) continue;
    const bool opens = i + 1 == sound_until || !log[i + 1].skipped;
    if (opens) rows.push_back({i, i + 1});
    rows.back()[0] = i;
  }
  std::ranges::reverse(rows);
  std::vector<Finding> findings;
  std::optional<size_t> last;
  for (const auto [first, end] : rows) {
    const auto& record = log[first];
    const bool high =
        std::isfinite(record.loss) && (first == 0 || *log[first - 1].scale < *record.scale);
    Cause cause = high ? Cause::kScaleTooHigh : Cause::kBadBatch;
    Remedy remedy = !high                        ? Remedy::kLookAtBatch
                    : last && first - *last < 10 ? Remedy::kLongerGrowthInterval
                                                 : Remedy::kNothing;
    if (end == log.size() && *log[end - 1].scale_after < 1) {
      cause = Cause::kDiverged;
      remedy = Remedy::kLowerRateOrLimit;
    }
    findings.push_back({record.step, static_cast<int64_t>(end - first), cause, remedy});
    last = end;
  }
  if (lost != log.end()) {
    findings.push_back(
        {lost->step, log.end() - lost, Cause::kNotSkipped, Remedy::kRestoreCheckpoint});
  }
  return findings;
}

}  // namespace event_log
