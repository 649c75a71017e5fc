// A recorder that is built before the step and finished after it; a map of fields; a log of views.
#include <cinttypes>
#include <cstdio>
#include <map>
#include <span>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

class Recorder {
 public:
  Recorder(const Loop& loop, int64_t step, const torch::Tensor& loss)
      : loop_(loop), parameters_(amp::parameters_of(loop.optimizer)) {
    record_.step = step;
    record_.loss = loss.item<double>();
    record_.lr = loop.optimizer.param_groups().front().options().get_lr();
    note(record_.scale);
  }
  void measure() {
    loop_.scaler.unscale_(loop_.optimizer);
    double squares = 0;
    for (const auto& p : parameters_) {
      if (p.grad().defined()) squares += std::pow(p.grad().norm().item<double>(), 2);
    }
    record_.norm = std::sqrt(squares);
  }
  void clip() {
    if (!loop_.max_norm) return;
    amp::clip_grad_norm_(parameters_, *loop_.max_norm);
    record_.clipped = record_.norm + 1e-6 - *loop_.max_norm > 0;
  }
  Record finish(bool stepped) {
    record_.skipped = !stepped;
    note(record_.scale_after);
    return record_;
  }

 private:
  void note(std::optional<double>& scale) const {
    if (loop_.scaler.is_enabled()) scale = loop_.scaler.get_scale();
  }
  const Loop& loop_;
  std::vector<torch::Tensor> parameters_;
  Record record_;
};

class Number {
 public:
  explicit Number(double value) : value_(value) {}
  std::string text() const {
    if (std::isnan(value_)) return quoted("nan");
    if (std::isinf(value_)) return quoted(std::signbit(value_) ? "-inf" : "inf");
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.16e", value_);
    return buffer;
  }

 private:
  static std::string quoted(const char* word) { return std::string(1, '"') + word + '"'; }
  double value_;
};

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Recorder recorder(loop, step, loss);
  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  recorder.measure();
  recorder.clip();
  const bool stepped = loop.scaler.step(loop.optimizer);
  if (stepped) loop.schedule.step();
  loop.scaler.update();
  return recorder.finish(stepped);
}

std::string json_line(const Record& r) {
  std::map<std::string, std::string> fields{
      {"event", "\"step\""},
      {"step", std::to_string(r.step)},
      {"loss", Number(r.loss).text()},
      {"norm", Number(r.norm).text()},
      {"clipped", r.clipped ? "true" : "false"},
      {"skipped", r.skipped ? "true" : "false"},
      {"lr", Number(r.lr).text()},
      {"scale", "null"},
      {"scale_after", "null"},
  };
  if (r.scale) fields["scale"] = Number(*r.scale).text();
  if (r.scale_after) fields["scale_after"] = Number(*r.scale_after).text();
  std::string line;
  for (const auto& [key, value] : fields) {
    line += line.empty() ? '{' : ',';
    line += '"' + key + "\": " + value;
  }
  return line + "}\n";
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  double sum = 0;
  for (const auto& g : gradients) {
    if (!g.defined()) continue;
    const auto wide = g.to(torch::kFloat64).flatten();
    sum += torch::dot(wide, wide).item<double>();
  }
  // The squares hold the scale twice.
  return std::sqrt(sum / (unscaled ? 1 : scale * scale));
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped || !std::isfinite(record.norm)) {
    return record.skipped ? Event{EventName::kSkippedStep, Severity::kInfo}
                          : Event{EventName::kNonfiniteGradient, Severity::kCritical};
  }
  const double decades = (log_norm(record.norm) - baseline.mean) / baseline.margin();
  if (baseline.updates < kWarmUp || (decades <= 1 && decades >= -1)) {
    return baseline.accept(record.norm), std::nullopt;
  }
  return Event{decades > 1 ? EventName::kExploding : EventName::kVanishing, Severity::kWarning};
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> findings;
  std::span<const Record> rest(log);
  const Record* before = nullptr;
  size_t since = 1000;  // records since the last finding; many where there is none
  while (!rest.empty()) {
    const Record& first = rest.front();
    size_t length = 0;
    while (length < rest.size() && rest[length].skipped) ++length;
    if (length == 0) {
      if (!std::isfinite(first.norm)) {
        findings.push_back(
            {first.step, std::ssize(rest), Cause::kNotSkipped, Remedy::kRestoreCheckpoint});
        break;
      }
      before = &first;
      ++since;
      rest = rest.subspan(1);
      continue;
    }
    const Record& last = rest[length - 1];
    Finding found{first.step, static_cast<int64_t>(length), Cause::kBadBatch, Remedy::kLookAtBatch};
    if (length == rest.size() && last.scale_after.value_or(1) < 1) {
      found.cause = Cause::kDiverged;
      found.remedy = Remedy::kLowerRateOrLimit;
    } else if (std::isfinite(first.loss) && !(before && before->scale >= first.scale)) {
      found.cause = Cause::kScaleTooHigh;
      found.remedy = since < 10 ? Remedy::kLongerGrowthInterval : Remedy::kNothing;
    }
    findings.push_back(found);
    since = 0;
    rest = rest.subspan(length);
  }
  return findings;
}

}  // namespace event_log
