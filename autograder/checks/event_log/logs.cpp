#include "logs.hpp"

#include <cmath>

#include "experiments/event_log/words.hpp"

namespace gradlab::event_log_checks {
namespace {

torch::Tensor input(double value) { return inputs({value}).front(); }

torch::Tensor input(const std::optional<double>& value) {
  return value ? input(*value) : torch::Tensor();
}

bool is_scale(const torch::Tensor& value) {
  return value.defined() && is_power_of_two(value.item<double>());
}

}  // namespace

// Multiples of 1/8 from 1/2 to 4: of a loss, and of a norm.
double SimulatedLog::usual() const { return static_cast<double>(random_.integer(4, 32)) / 8; }

void SimulatedLog::add(double loss, double norm, double factor, bool skipped) {
  event_log::Record record;
  record.step = step_;
  record.loss = loss;
  record.scale = scale_;
  if (scale_) scale_ = *scale_ * factor;
  record.scale_after = scale_;
  record.norm = norm;
  record.skipped = skipped;
  records_.push_back(record);
  step_ += every_;
}

SimulatedLog& SimulatedLog::taken(size_t count) {
  for (size_t i = 0; i < count; ++i) add(usual(), usual(), 1, false);
  return *this;
}

SimulatedLog& SimulatedLog::grows() {
  add(usual(), usual(), 2, false);
  return *this;
}

SimulatedLog& SimulatedLog::skips(size_t count, std::optional<double> loss) {
  for (size_t i = 0; i < count; ++i) {
    const double norm = loss && !std::isfinite(*loss) ? kNaN : kInfinity;
    add(loss ? *loss : usual(), norm, 0.5, true);
  }
  return *this;
}

SimulatedLog& SimulatedLog::lost(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    add(i == 0 ? usual() : kNaN, i == 0 ? kInfinity : kNaN, 1, false);
  }
  return *this;
}

SimulatedLog::operator Case() const {
  Case in;
  for (const auto& record : records_) {
    in.add("steps", input(static_cast<double>(record.step)))
        .add("losses", input(record.loss))
        .add("scales", input(record.scale))
        .add("scales_after", input(record.scale_after))
        .add("norms", input(record.norm))
        .add(kSkipped, input(record.skipped ? 1.0 : 0.0));
  }
  return in;
}

void expect_findings(Subject& subject, Subject& reference, const std::vector<WorkedLog>& logs) {
  std::vector<Case> cases;
  for (const auto& log : logs) cases.push_back(log.log);
  const auto got = subject.observe("findings", cases);
  const auto want = reference.observe("findings", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    const auto& worked = logs.at(i++).findings;
    const auto words = worked ? event_log_runs::in_words(*worked) : run.want.word("findings");
    EXPECT_THAT(run.got, Word("findings", words));
  }
}

bool decides_log(const Case& in) {
  const auto &steps = in.tensors("steps"), &scales = in.tensors("scales");
  const auto& scales_after = in.tensors("scales_after");
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && steps[i].item<double>() <= steps[i - 1].item<double>()) return false;
    const bool has_scaler = scales[i].defined();
    if (has_scaler && !(is_scale(scales[i]) && is_scale(scales_after[i]))) return false;
    if (!has_scaler && in.tensors(kSkipped)[i].item<double>() != 0) return false;
  }
  return !steps.empty();
}

}  // namespace gradlab::event_log_checks
