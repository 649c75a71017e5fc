// LibTorch's own clip, which returns a double; a small JSON writer; recursion over the log.
#include <torch/nn/utils/clip_grad.h>

#include <limits>
#include <sstream>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

class Writer {
 public:
  Writer() { out_.precision(std::numeric_limits<double>::max_digits10); }
  void raw(const char* key, const std::string& value) {
    out_ << (empty_ ? "{" : ", ") << '"' << key << "\": " << value;
    empty_ = false;
  }
  void word(const char* key, const std::string& value) { raw(key, '"' + value + '"'); }
  void number(const char* key, double value) {
    if (std::isfinite(value)) {
      raw(key, "");
      out_ << std::scientific << value;
    } else {
      word(key, std::isnan(value) ? "nan" : std::signbit(value) ? "-inf" : "inf");
    }
  }
  std::string end() {
    out_ << "}\n";
    return out_.str();
  }

 private:
  std::ostringstream out_;
  bool empty_ = true;
};

using Log = std::vector<Record>;

void read_from(const Log& log, size_t at, int64_t last_end, std::vector<Finding>& out) {
  if (at >= log.size()) return;
  const Record& r = log[at];
  if (!r.skipped && std::isfinite(r.norm)) return read_from(log, at + 1, last_end, out);
  if (!r.skipped) {
    out.push_back(
        {r.step, int64_t(log.size() - at), Cause::kNotSkipped, Remedy::kRestoreCheckpoint});
    return;
  }
  size_t end = at + 1;
  for (; end < log.size(); ++end) {
    if (!log[end].skipped) break;
  }
  const auto judge = [&]() -> std::pair<Cause, Remedy> {
    if (end == log.size() && log[end - 1].scale_after < 1.0) {
      return {Cause::kDiverged, Remedy::kLowerRateOrLimit};
    }
    if (!std::isfinite(r.loss)) return {Cause::kBadBatch, Remedy::kLookAtBatch};
    if (at > 0 && !(log[at - 1].scale < r.scale)) return {Cause::kBadBatch, Remedy::kLookAtBatch};
    if (last_end >= 0 && int64_t(at) - last_end < 10) {
      return {Cause::kScaleTooHigh, Remedy::kLongerGrowthInterval};
    }
    return {Cause::kScaleTooHigh, Remedy::kNothing};
  };
  const auto [cause, remedy] = judge();
  out.push_back({r.step, int64_t(end - at), cause, remedy});
  read_from(log, end, int64_t(end), out);
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto& [optimizer, scaler, schedule, max_norm] = loop;
  Record r;
  r.step = step;
  r.loss = loss.detach().item<float>();
  r.lr =
      static_cast<torch::optim::OptimizerOptions&>(optimizer.param_groups()[0].options()).get_lr();
  optimizer.zero_grad();
  scaler.scale(loss).backward();
  if (scaler.is_enabled()) r.scale.emplace(scaler.get_scale());
  scaler.unscale_(optimizer);
  const auto all = amp::parameters_of(optimizer);
  if (max_norm.has_value()) {
    r.norm = torch::nn::utils::clip_grad_norm_(all, max_norm.value());
    r.clipped = r.norm + 1e-6 > max_norm.value();
  } else {
    // No limit that "nothing reaches": an infinite norm does, and 0 times inf is NaN.
    double squares = 0;
    for (const auto& one : all) {
      if (one.grad().defined()) squares += std::pow(one.grad().norm().item<double>(), 2);
    }
    r.norm = std::sqrt(squares);
  }
  r.skipped = scaler.step(optimizer) == false;
  if (r.skipped == false) schedule.step();
  scaler.update();
  if (scaler.is_enabled()) r.scale_after.emplace(scaler.get_scale());
  return r;
}

std::string json_line(const Record& r) {
  Writer w;
  w.word("event", "step");
  w.raw("step", std::to_string(r.step));
  w.number("loss", r.loss);
  r.scale ? w.number("scale", *r.scale) : w.raw("scale", "null");
  r.scale_after ? w.number("scale_after", *r.scale_after) : w.raw("scale_after", "null");
  w.number("norm", r.norm);
  w.raw("clipped", r.clipped ? "true" : "false");
  w.raw("skipped", r.skipped ? "true" : "false");
  w.number("lr", r.lr);
  return w.end();
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  double squares = 0;
  const double factor = unscaled ? 1 : 1 / scale;
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    const auto flat = g.to(torch::kFloat64).contiguous().flatten();
    const double* x = flat.const_data_ptr<double>();
    for (int64_t i = 0; i < flat.numel(); ++i) squares += (x[i] * factor) * (x[i] * factor);
  }
  return std::sqrt(squares);
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  std::optional<Event> event;
  if (record.skipped) {
    event = Event{EventName::kSkippedStep, Severity::kInfo};
  } else if (!std::isfinite(record.norm)) {
    event = Event{EventName::kNonfiniteGradient, Severity::kCritical};
  } else if (baseline.updates > kWarmUp - 1) {
    const double sigmas = 2.5 * (std::sqrt(baseline.variance) + 1e-6);
    const double allowed = sigmas < 1 ? 1 : sigmas;
    const double x = std::log10(record.norm + 1e-30);
    if (x - baseline.mean > allowed) event = Event{EventName::kExploding, Severity::kWarning};
    if (baseline.mean - x > allowed) event = Event{EventName::kVanishing, Severity::kWarning};
  }
  if (!event) baseline.accept(record.norm);
  return event;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> findings;
  read_from(log, 0, -1, findings);
  return findings;
}

}  // namespace event_log
