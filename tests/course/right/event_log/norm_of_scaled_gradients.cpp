// Measures before unscale_ and divides; asks the scaler's state; a table of rules reads the log.
#include <functional>
#include <iomanip>
#include <sstream>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> gradients;
  for (const auto& p : parameters) gradients.push_back(p.grad());
  return gradients;
}

struct Json {
  std::optional<double> value;
};
std::ostream& operator<<(std::ostream& out, const Json& json) {
  if (!json.value) return out << "null";
  const double x = *json.value;
  if (std::isnan(x)) return out << R"("nan")";
  if (std::isinf(x)) return out << '"' << (x < 0 ? "-" : "") << "inf" << '"';
  return out << x;
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  const auto state = loop.scaler.state();  // none where it is not enabled
  const auto skipped_before = loop.scaler.steps_skipped();
  const double lr = loop.optimizer.param_groups().front().options().get_lr();
  loop.optimizer.zero_grad();
  loop.scaler.scale(loss).backward();
  const auto parameters = amp::parameters_of(loop.optimizer);
  const double norm = true_norm(gradients_of(parameters), loop.scaler.get_scale(), false);
  bool clipped = false;
  if (loop.max_norm) {
    loop.scaler.unscale_(loop.optimizer);
    amp::clip_grad_norm_(parameters, *loop.max_norm);
    const auto now = true_norm(gradients_of(parameters), 1, true);
    clipped = now < norm * (1 - 1e-9);
  }
  if (loop.scaler.step(loop.optimizer)) loop.schedule.step();
  loop.scaler.update();
  const auto after = loop.scaler.state();
  Record record;
  record.step = step;
  record.loss = loss.item().toDouble();
  if (state) record.scale = state->scale;
  if (after) record.scale_after = after->scale;
  record.norm = norm;
  record.clipped = clipped;
  record.skipped = loop.scaler.steps_skipped() != skipped_before;
  record.lr = lr;
  return record;
}

std::string json_line(const Record& r) {
  std::stringstream s;
  s << std::setprecision(17) << std::boolalpha << R"({ "event" : "step" , "step" : )" << r.step
    << R"( , "loss" : )" << Json{r.loss} << R"( , "scale" : )" << Json{r.scale}
    << R"( , "scale_after" : )" << Json{r.scale_after} << R"( , "norm" : )" << Json{r.norm}
    << R"( , "clipped" : )" << r.clipped << R"( , "skipped" : )" << r.skipped << R"( , "lr" : )"
    << Json{r.lr} << " }" << std::endl;
  return s.str();
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  std::vector<double> norms;
  for (size_t i = 0; i < gradients.size(); i++) {
    if (!gradients[i].defined()) continue;
    torch::Tensor wide = gradients[i].to(torch::kFloat64);
    if (!unscaled) wide = wide.div(scale);
    norms.push_back(torch::linalg_norm(wide.reshape({-1})).item<double>());
  }
  double total = 0;
  for (double norm : norms) total = std::hypot(total, norm);
  return std::isfinite(total) || norms.empty() ? total : (total != total ? NAN : INFINITY);
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  const double x = log_norm(record.norm);
  const bool warm = baseline.updates >= kWarmUp;
  struct Rule {
    bool applies;
    EventName name;
    Severity severity;
  };
  const Rule rules[] = {
      {record.skipped, EventName::kSkippedStep, Severity::kInfo},
      {!std::isfinite(record.norm), EventName::kNonfiniteGradient, Severity::kCritical},
      {warm && x > baseline.mean + baseline.margin(), EventName::kExploding, Severity::kWarning},
      {warm && x < baseline.mean - baseline.margin(), EventName::kVanishing, Severity::kWarning},
  };
  for (const auto& rule : rules) {
    if (rule.applies) return Event{rule.name, rule.severity};
  }
  baseline.accept(record.norm);
  return std::nullopt;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  using Row = std::vector<const Record*>;
  std::vector<Finding> findings;
  Row row;
  const Record* before = nullptr;  // the row
  const Record* previous = nullptr;
  int64_t taken = 0;
  const auto judge = [&](bool at_end) {
    if (row.empty()) return;
    const Record &first = *row.front(), &last = *row.back();
    const std::pair<bool, std::pair<Cause, Remedy>> rules[] = {
        {at_end && *last.scale_after < 1, {Cause::kDiverged, Remedy::kLowerRateOrLimit}},
        {!std::isfinite(first.loss), {Cause::kBadBatch, Remedy::kLookAtBatch}},
        {before && *before->scale >= *first.scale, {Cause::kBadBatch, Remedy::kLookAtBatch}},
        {!findings.empty() && taken < 10, {Cause::kScaleTooHigh, Remedy::kLongerGrowthInterval}},
        {true, {Cause::kScaleTooHigh, Remedy::kNothing}},
    };
    for (const auto& [applies, verdict] : rules) {
      if (!applies) continue;
      findings.push_back(
          {first.step, static_cast<int64_t>(row.size()), verdict.first, verdict.second});
      break;
    }
    row.clear();
    taken = 0;
  };
  for (size_t i = 0; i < log.size(); ++i) {
    if (log[i].skipped) {
      if (row.empty()) before = previous;
      row.push_back(&log[i]);
    } else {
      judge(false);
      if (!std::isfinite(log[i].norm)) {
        findings.push_back({log[i].step, static_cast<int64_t>(log.size() - i), Cause::kNotSkipped,
                            Remedy::kRestoreCheckpoint});
        return findings;
      }
      ++taken;
    }
    previous = &log[i];
  }
  judge(true);
  return findings;
}

}  // namespace event_log
