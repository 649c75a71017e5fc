// Accepts first and takes it back; skips are findings of their own until they are joined.
#include <array>
#include <charconv>
#include <string_view>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

std::string of(double value) {
  if (value != value) return R"("nan")";
  if (value == HUGE_VAL) return R"("inf")";
  if (value == -HUGE_VAL) return R"("-inf")";
  std::array<char, 48> text{};
  const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific);
  return {text.begin(), end.ptr};
}
std::string of(const std::optional<double>& value) { return value ? of(*value) : "null"; }
std::string of(bool value) { return value ? "true" : "false"; }

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Record record{.step = step};
  torch::Tensor norm;
  // What training_step does, with an eye on each call.
  record.lr = loop.optimizer.param_groups().front().options().get_lr();
  loop.optimizer.zero_grad();
  const auto scaled = loop.scaler.scale(loss);
  if (loop.scaler.is_enabled()) record.scale = loop.scaler.get_scale();
  scaled.backward();
  if (loop.scaler.is_enabled()) loop.scaler.unscale_(loop.optimizer);
  const std::vector<torch::Tensor> parameters = amp::parameters_of(loop.optimizer);
  if (loop.max_norm) {
    norm = amp::clip_grad_norm_(parameters, *loop.max_norm);
  } else {
    // A clip at infinity is none.
    norm = at::zeros({});
    for (const auto& p : parameters) {
      if (p.grad().defined()) norm = norm + p.grad().pow(2).sum();
    }
    norm = norm.sqrt();
  }
  record.norm = norm.item<float>();
  record.clipped = loop.max_norm && norm.add(1e-6).gt(*loop.max_norm).item<bool>();
  record.skipped = true;
  if (loop.scaler.step(loop.optimizer)) {
    record.skipped = false;
    loop.schedule.step();
  }
  loop.scaler.update();
  if (record.scale) record.scale_after = loop.scaler.get_scale();
  record.loss = loss.item<float>();
  return record;
}

std::string json_line(const Record& record) {
  const std::array<std::pair<std::string_view, std::string>, 9> fields{{
      {"event", R"("step")"},
      {"step", std::to_string(record.step)},
      {"loss", of(record.loss)},
      {"scale", of(record.scale)},
      {"scale_after", of(record.scale_after)},
      {"norm", of(record.norm)},
      {"clipped", of(record.clipped)},
      {"skipped", of(record.skipped)},
      {"lr", of(record.lr)},
  }};
  std::string line(1, '{');
  for (const auto& [name, value] : fields) {
    line.append("\"").append(name).append("\":").append(value).append(",");
  }
  line.back() = '}';
  return line.append(1, '\n');
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  std::vector<torch::Tensor> copies;
  for (const auto& g : gradients) {
    if (g.defined())
      copies.push_back(g.detach().to(torch::kFloat32, /*non_blocking=*/false, /*copy=*/true));
  }
  if (!unscaled) {
    for (auto& copy : copies) copy.mul_(1 / scale);
  }
  return copies.empty() ? 0 : amp::get_total_norm(copies).item<double>();
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  const Baseline before = baseline;
  if (std::isfinite(record.norm)) baseline.accept(record.norm);
  const double off = log_norm(record.norm) - before.mean;
  std::optional<Event> event;
  if (before.updates >= kWarmUp) {
    if (off > before.margin()) event = {EventName::kExploding, Severity::kWarning};
    if (off < -before.margin()) event = {EventName::kVanishing, Severity::kWarning};
  }
  if (!std::isfinite(record.norm)) event = {EventName::kNonfiniteGradient, Severity::kCritical};
  if (record.skipped) event = {EventName::kSkippedStep, Severity::kInfo};
  if (event) baseline = before;  // none of these is accepted after all
  return event;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> all;
  std::vector<size_t> ends;
  // Every skip as a finding, then neighbours are joined.
  for (size_t i = 0; i < log.size(); ++i) {
    const auto& r = log[i];
    if (r.skipped) {
      const bool continues = i > 0 && log[i - 1].skipped;
      if (continues) {
        ++all.back().records;
        ends.back() = i + 1;
        continue;
      }
      const bool tried = i > 0 && r.scale <= log[i - 1].scale;
      const bool batch = tried || std::isnan(r.loss) || std::isinf(r.loss);
      all.push_back({r.step, 1, batch ? Cause::kBadBatch : Cause::kScaleTooHigh,
                     batch ? Remedy::kLookAtBatch : Remedy::kNothing});
      if (!batch && !ends.empty() && i - ends.back() < 10) {
        all.back().remedy = Remedy::kLongerGrowthInterval;
      }
      ends.push_back(i + 1);
    } else if (!std::isfinite(r.norm)) {
      all.push_back({r.step, static_cast<int64_t>(log.size() - i), Cause::kNotSkipped,
                     Remedy::kRestoreCheckpoint});
      return all;
    }
  }
  if (!log.empty() && log.back().skipped && *log.back().scale_after < 1) {
    all.back().cause = Cause::kDiverged;
    all.back().remedy = Remedy::kLowerRateOrLimit;
  }
  return all;
}

}  // namespace event_log
