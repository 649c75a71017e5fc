// Clips by hand and only above the limit; three-way comparison of scales; rows by algorithms.
#include <charconv>
#include <cstring>
#include <iterator>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

std::string quoted(const std::string& word) { return "\"" + word + "\""; }

std::string field(const std::string& key, const std::string& value) {
  return quoted(key) + ":" + value;
}

std::string number(double x) {
  if (std::isfinite(x)) {
    std::string digits(32, ' ');
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr;
    digits.resize(static_cast<size_t>(end - digits.data()));
    return digits;
  }
  return quoted(std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  Record record;
  record.step = step;
  record.loss = static_cast<double>(loss.item<float>());
  record.lr = loop.optimizer.param_groups().begin()->options().get_lr();
  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  loop.scaler.unscale_(loop.optimizer);
  double squares = 0;
  for (const auto& p : amp::parameters_of(loop.optimizer)) {
    if (p.grad().defined()) squares += p.grad().to(torch::kDouble).square().sum().item<double>();
  }
  record.norm = std::sqrt(squares);
  if (loop.max_norm && record.norm > *loop.max_norm) {
    const double factor = *loop.max_norm / (record.norm + 1e-6);
    for (const auto& p : amp::parameters_of(loop.optimizer)) {
      if (p.grad().defined()) p.grad().mul_(factor);
    }
    record.clipped = true;
  }
  if (!loop.scaler.is_enabled()) {
    loop.optimizer.step();
    loop.schedule.step();
    return record;
  }
  record.scale = loop.scaler.get_scale();
  if (loop.scaler.step(loop.optimizer)) {
    loop.schedule.step();
  } else {
    record.skipped = true;
  }
  loop.scaler.update();
  record.scale_after = loop.scaler.get_scale();
  return record;
}

std::string json_line(const Record& r) {
  const std::string yes_no[] = {"false", "true"};
  return "{" + field("event", quoted("step")) + "," + field("step", std::to_string(r.step)) + "," +
         field("loss", number(r.loss)) + "," + field("scale", r.scale ? number(*r.scale) : "null") +
         "," + field("scale_after", r.scale_after ? number(*r.scale_after) : "null") + "," +
         field("norm", number(r.norm)) + "," + field("clipped", yes_no[r.clipped]) + "," +
         field("skipped", yes_no[r.skipped]) + "," + field("lr", number(r.lr)) + "}" + "\n";
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  auto squares = torch::zeros({}, torch::kFloat64);
  for (const auto& g : gradients) {
    if (g.defined()) squares += g.to(torch::kFloat32).pow(2).sum(torch::kFloat64);
  }
  if (!unscaled) squares /= scale * scale;
  return squares.sqrt().item<double>();
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  const bool finite = std::isfinite(record.norm);
  const bool warm = baseline.updates >= kWarmUp;
  const double x = finite ? log_norm(record.norm) : 0;
  const double up = x - (baseline.mean + baseline.margin());
  const double down = (baseline.mean - baseline.margin()) - x;
  return record.skipped     ? Event{EventName::kSkippedStep, Severity::kInfo}
         : !finite          ? Event{EventName::kNonfiniteGradient, Severity::kCritical}
         : warm && up > 0   ? Event{EventName::kExploding, Severity::kWarning}
         : warm && down > 0 ? Event{EventName::kVanishing, Severity::kWarning}
                            : (baseline.accept(record.norm), std::optional<Event>());
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> findings;
  const auto is_skipped = [](const Record& r) { return r.skipped; };
  const auto is_bad = [](const Record& r) { return r.skipped || !std::isfinite(r.norm); };
  auto after_last = log.end();  // no finding yet
  for (auto at = std::find_if(log.begin(), log.end(), is_bad); at != log.end();) {
    if (!at->skipped) {
      findings.push_back(
          {at->step, std::distance(at, log.end()), Cause::kNotSkipped, Remedy::kRestoreCheckpoint});
      break;
    }
    const auto end = std::find_if_not(at, log.end(), is_skipped);
    findings.push_back({at->step, std::distance(at, end), Cause::kScaleTooHigh, Remedy::kNothing});
    auto& found = findings.back();
    const bool held = at != log.begin() && *std::prev(at)->scale >= *at->scale;
    if (end == log.end() && *std::prev(end)->scale_after < 1) {
      found.cause = Cause::kDiverged;
      found.remedy = Remedy::kLowerRateOrLimit;
    } else if (held || !std::isfinite(at->loss)) {
      found.cause = Cause::kBadBatch;
      found.remedy = Remedy::kLookAtBatch;
    } else if (after_last != log.end() && std::distance(after_last, at) <= 9) {
      found.remedy = Remedy::kLongerGrowthInterval;
    }
    after_last = end;
    at = std::find_if(end, log.end(), is_bad);
  }
  return findings;
}

}  // namespace event_log
