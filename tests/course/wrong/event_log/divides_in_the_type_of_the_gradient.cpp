#include "event_log.hpp"

#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>

using namespace event_log;

namespace {

struct Json {
  std::ostringstream out;
  const char* comma = "{";

  Json() {
    out.imbue(std::locale::classic());
    out << std::setprecision(17) << std::boolalpha;
  }
  template <typename T>
  void raw(const char* key, const T& value) {
    out << comma << '"' << key << "\":" << value;
    comma = ",";
  }
  void real(const char* key, double value) {
    if (value != value)
      raw(key, "\"nan\"");
    else if (value > std::numeric_limits<double>::max())
      raw(key, "\"inf\"");
    else if (value < std::numeric_limits<double>::lowest())
      raw(key, "\"-inf\"");
    else
      raw(key, value);
  }
  void real(const char* key, const std::optional<double>& value) {
    if (value.has_value()) real(key, value.value());
  }
};

// the norm before any clipping
double measure(const Loop& loop, bool unscaled) {
  std::vector<torch::Tensor> grads;
  for (auto& group : loop.optimizer.param_groups())
    for (auto& p : group.params()) grads.push_back(p.grad());
  return true_norm(grads, loop.scaler.get_scale(), unscaled);
}

double first_lr(torch::optim::Optimizer& opt) { return opt.param_groups()[0].options().get_lr(); }

}  // namespace

Record event_log::logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  auto& [opt, scaler, schedule, max_norm] = loop;
  Record r;
  r.step = step;
  r.loss = loss.detach().to(torch::kDouble).item<double>();
  r.lr = first_lr(opt);
  const bool amp_on = scaler.is_enabled();

  opt.zero_grad();
  auto scaled = scaler.scale(loss);
  if (amp_on) r.scale = scaler.get_scale();
  scaled.backward();
  if (max_norm) {
    scaler.unscale_(opt);
    r.norm = measure(loop, true);
    gradlab::amp::clip_grad_norm_(gradlab::amp::parameters_of(opt), *max_norm);
    r.clipped = r.norm > 0 && r.norm > *max_norm - 1e-6;
  } else {
    r.norm = measure(loop, false);
  }
  if (scaler.step(opt))
    schedule.step();
  else
    r.skipped = true;
  scaler.update();
  if (amp_on) r.scale_after = scaler.get_scale();
  return r;
}

std::string event_log::json_line(const Record& r) {
  Json j;
  j.raw("event", "\"step\"");
  j.raw("step", r.step);
  j.real("loss", r.loss);
  j.real("scale", r.scale);
  j.real("scale_after", r.scale_after);
  j.real("norm", r.norm);
  j.raw("clipped", r.clipped);
  j.raw("skipped", r.skipped);
  j.real("lr", r.lr);
  j.out << "}\n";
  return j.out.str();
}

double event_log::true_norm(const std::vector<torch::Tensor>& gradients, double scale,
                            bool unscaled) {
  torch::NoGradGuard guard;
  const double factor = unscaled ? 1.0 : scale;
  double sum = 0;
  for (const torch::Tensor& g : gradients) {
    if (!g.defined() || g.numel() == 0) continue;
    const torch::Tensor wide = g.div(factor).to(torch::kFloat64);
    sum += (wide * wide).sum().item<double>();
  }
  return std::sqrt(sum);
}

std::optional<Event> event_log::watch(const Record& r, Baseline& b) {
  if (r.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
  if (std::isnan(r.norm) || std::isinf(r.norm))
    return Event{EventName::kNonfiniteGradient, Severity::kCritical};
  const bool warm = b.updates >= kWarmUp;
  const double upper = b.mean + b.margin(), lower = b.mean - b.margin();
  const double x = log_norm(r.norm);
  if (warm && x > upper) return Event{EventName::kExploding, Severity::kWarning};
  if (warm && x < lower) return Event{EventName::kVanishing, Severity::kWarning};
  b.accept(r.norm);
  return {};
}

std::vector<Finding> event_log::read_log(const std::vector<Record>& log) {
  std::vector<Finding> found;
  const int n = static_cast<int>(log.size());
  int previous_last = -1;  // index of the last record of the finding before
  int first = -1;          // index of the first skip of an open burst
  for (int i = 0; i < n; i++) {
    const Record& r = log[i];
    if (r.skipped && first < 0) first = i;
    const bool closes = r.skipped && (i + 1 == n || !log[i + 1].skipped);
    if (closes) {
      const Record& a = log[first];
      Finding f;
      f.first_step = a.step;
      f.records = i - first + 1;
      const bool at_end = i + 1 == n;
      const bool tried = first > 0 && log[first - 1].scale.value() >= a.scale.value();
      if (at_end && r.scale_after.value() < 1.0) {
        f.cause = Cause::kDiverged;
        f.remedy = Remedy::kLowerRateOrLimit;
      } else if (!std::isfinite(a.loss) || tried) {
        f.cause = Cause::kBadBatch;
        f.remedy = Remedy::kLookAtBatch;
      } else {
        f.cause = Cause::kScaleTooHigh;
        const int between = first - previous_last - 1;
        f.remedy = !found.empty() && between < 10 ? Remedy::kLongerGrowthInterval
                                                  : Remedy::kNothing;
      }
      found.push_back(f);
      previous_last = i;
      first = -1;
    }
    if (!r.skipped && !std::isfinite(r.norm)) {
      found.push_back({r.step, n - i, Cause::kNotSkipped, Remedy::kRestoreCheckpoint});
      return found;
    }
  }
  return found;
}
