// Values stay 0-dim tensors for as long as they can; text through c10; the log as columns.
#include <c10/util/StringUtil.h>

#include <limits>
#include <sstream>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

std::optional<double> number(const torch::Tensor& value) {
  if (!value.defined()) return std::nullopt;
  return value.item<double>();
}

std::string text(double value) {
  if (!std::isfinite(value)) {
    return c10::str('"', std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", '"');
  }
  std::ostringstream out;
  out.precision(std::numeric_limits<double>::max_digits10);
  out << value;
  return out.str();
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  const auto rate =
      torch::full({}, loop.optimizer.param_groups()[0].options().get_lr(), at::kDouble);
  const auto scale_now = [&] {
    return loop.scaler.is_enabled() ? torch::full({}, loop.scaler.get_scale(), at::kDouble)
                                    : torch::Tensor();
  };
  loop.optimizer.zero_grad();
  loop.scaler.scale(std::vector<torch::Tensor>{loss}).front().backward();
  loop.scaler.unscale_(loop.optimizer);
  const auto parameters = amp::parameters_of(loop.optimizer);
  std::vector<torch::Tensor> flat;
  for (const auto& p : parameters) {
    if (p.grad().defined()) flat.push_back(p.grad().detach().reshape({-1}));
  }
  const auto norm = torch::cat(flat).norm(2);
  torch::Tensor factor = torch::ones({});
  if (loop.max_norm) {
    factor = torch::clamp_max(*loop.max_norm / (norm + 1e-6), 1);
    amp::clip_grads_with_norm_(parameters, *loop.max_norm, norm);
  }
  const auto scale = scale_now();
  const bool stepped = loop.scaler.step(loop.optimizer);
  loop.scaler.update();
  const auto next = scale_now();
  if (stepped) loop.schedule.step();
  return {step,         loss.item<double>(), number(scale),
          number(next), norm.item<double>(), (factor < 1).item<bool>(),
          !stepped,     rate.item<double>()};
}

std::string json_line(const Record& r) {
  return c10::str("{\"event\":\"step\"", ",\"step\":", r.step, ",\"loss\":", text(r.loss),
                  ",\"scale\":", r.scale ? text(*r.scale) : "null",
                  ",\"scale_after\":", r.scale_after ? text(*r.scale_after) : "null",
                  ",\"norm\":", text(r.norm), ",\"clipped\":", r.clipped ? "true" : "false",
                  ",\"skipped\":", r.skipped ? "true" : "false", ",\"lr\":", text(r.lr), "}\n");
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  torch::Tensor total = torch::zeros({}, at::kFloat);
  for (const auto& g : gradients) {
    if (g.defined()) total = torch::hypot(total, g.to(at::kFloat).norm());
  }
  if (!unscaled) total = total / scale;
  return total.item<double>();
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  using Maybe = std::optional<Event>;
  const auto judge = [&]() -> Maybe {
    if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
    if (!std::isfinite(record.norm))
      return Event{EventName::kNonfiniteGradient, Severity::kCritical};
    if (baseline.updates < kWarmUp) return std::nullopt;
    const double x = log_norm(record.norm);
    const double clamped =
        std::clamp(x, baseline.mean - baseline.margin(), baseline.mean + baseline.margin());
    if (x == clamped) return std::nullopt;
    return Event{x > clamped ? EventName::kExploding : EventName::kVanishing, Severity::kWarning};
  };
  const Maybe event = judge();
  if (!event.has_value()) baseline.accept(record.norm);
  return event;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  const auto n = static_cast<int64_t>(log.size());
  // Lengths of the rows of skips that begin at each record, from the end.
  std::vector<int64_t> length(log.size() + 1, 0);
  for (int64_t i = n - 1; i >= 0; --i) length[i] = log[i].skipped ? length[i + 1] + 1 : 0;
  std::vector<Finding> out;
  int64_t i = 0;
  for (int64_t free_since = -1; i < n;) {
    const auto& r = log[i];
    if (length[i] > 0) {
      const int64_t end = i + length[i];
      const bool diverged = end == n && log[end - 1].scale_after < 1.0;
      const bool batch =
          !std::isfinite(r.loss) || (i > 0 && log[i - 1].scale.value() >= r.scale.value());
      const bool soon = free_since >= 0 && i < free_since + 10;
      const Cause cause = diverged ? Cause::kDiverged
                          : batch  ? Cause::kBadBatch
                                   : Cause::kScaleTooHigh;
      const Remedy remedy = diverged ? Remedy::kLowerRateOrLimit
                            : batch  ? Remedy::kLookAtBatch
                            : soon   ? Remedy::kLongerGrowthInterval
                                     : Remedy::kNothing;
      out.push_back({r.step, length[i], cause, remedy});
      i = free_since = end;
    } else if (std::isfinite(r.norm)) {
      ++i;
    } else {
      out.push_back({r.step, n - i, Cause::kNotSkipped, Remedy::kRestoreCheckpoint});
      i = n;
    }
  }
  return out;
}

}  // namespace event_log
