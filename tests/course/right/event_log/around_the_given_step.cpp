// training_step runs as it is; what it does not tell, an observer of the library hears. A state
// machine reads the log.
#include <charconv>
#include <functional>

#include "event_log.hpp"

namespace event_log {
namespace {

namespace amp = gradlab::amp;

class Ear : public amp::Observer {
 public:
  void begin(const amp::Event&) noexcept override {}
  void end(const amp::Event& event) noexcept override {
    if (event.call == amp::Call::kStep) stepped = event.stepped;
    if (event.call == amp::Call::kClipGradNorm) norm = event.total_norm;
  }
  bool stepped = false;
  torch::Tensor norm;
};

double number_of(const torch::Tensor& tensor) { return tensor.item<double>(); }

// After the step the gradients are unscaled, by step() itself if by nobody else.
double norm_that_is_left(const torch::optim::Optimizer& optimizer) {
  double squares = 0;
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& p : group.params()) {
      if (p.grad().defined()) squares += number_of(p.grad().to(at::kDouble).pow(2).sum());
    }
  }
  return std::sqrt(squares);
}

}  // namespace

Record logged_step(const Loop& loop, int64_t step, const torch::Tensor& loss) {
  const bool scaled = loop.scaler.is_enabled();
  const std::optional<double> before =
      scaled ? std::make_optional(loop.scaler.get_scale()) : std::nullopt;
  const double lr = loop.optimizer.param_groups().at(0).options().get_lr();
  Ear ear;
  {
    const amp::ObserverScope listening(ear);
    training_step(loop, loss);
  }
  const double left = norm_that_is_left(loop.optimizer);
  const double norm = ear.norm.defined() ? number_of(ear.norm) : left;
  const bool clipped = loop.max_norm && norm >= *loop.max_norm;
  return {step,
          number_of(loss.detach()),
          before,
          scaled ? std::make_optional(loop.scaler.get_scale()) : std::nullopt,
          norm,
          clipped,
          scaled && !ear.stepped,
          lr};
}

std::string json_line(const Record& record) {
  std::string line = "{";
  const auto key = [&](const char* name) {
    if (line.size() > 1) line += ',';
    ((line += '"') += name) += "\":";
  };
  const auto number = [&](double x) {
    if (x != x) {
      line += "\"nan\"";
    } else if (x - x != 0) {
      line += x < 0 ? "\"-inf\"" : "\"inf\"";
    } else {
      char digits[40];
      line.append(digits, std::to_chars(digits, digits + 40, x).ptr);
    }
  };
  key("lr"), number(record.lr);
  key("skipped"), line += record.skipped ? "true" : "false";
  key("clipped"), line += record.clipped ? "true" : "false";
  key("norm"), number(record.norm);
  if (record.scale_after) key("scale_after"), number(*record.scale_after);
  if (record.scale) key("scale"), number(*record.scale);
  key("loss"), number(record.loss);
  key("step"), line += std::to_string(record.step);
  key("event"), line += "\"step\"";
  return line + "}\n";
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  std::vector<torch::Tensor> wide;
  for (const auto& g : gradients) {
    if (g.defined()) wide.push_back(g.flatten().to(torch::kDouble));
  }
  if (wide.empty()) return 0;
  const auto all = torch::cat(wide) / (unscaled ? 1.0 : scale);
  return number_of(all.norm());
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  enum { skip, broken, above, below, usual } kind = usual;
  const double off = log_norm(record.norm) - baseline.mean;
  if (record.skipped) {
    kind = skip;
  } else if (std::isnan(record.norm) || std::isinf(record.norm)) {
    kind = broken;
  } else if (baseline.updates >= kWarmUp && std::abs(off) > baseline.margin()) {
    kind = off > 0 ? above : below;
  }
  switch (kind) {
    case skip:
      return {{EventName::kSkippedStep, Severity::kInfo}};
    case broken:
      return {{EventName::kNonfiniteGradient, Severity::kCritical}};
    case above:
      return {{EventName::kExploding, Severity::kWarning}};
    case below:
      return {{EventName::kVanishing, Severity::kWarning}};
    default:
      baseline.accept(record.norm);
      return {};
  }
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::vector<Finding> out;
  int64_t sound = 0;             // records since the last finding
  double held = 0;               // scale of the record before, where that was taken
  const Record* last = nullptr;  // of an open row
  for (const Record& r : log) {
    if (!out.empty() && out.back().cause == Cause::kNotSkipped) {
      ++out.back().records;
    } else if (r.skipped && last) {
      ++out.back().records;
      last = &r;
    } else if (r.skipped) {
      const bool batch = !std::isfinite(r.loss) || held >= *r.scale;
      const bool soon = !out.empty() && sound < 10;
      out.push_back({r.step, 1, batch ? Cause::kBadBatch : Cause::kScaleTooHigh,
                     batch  ? Remedy::kLookAtBatch
                     : soon ? Remedy::kLongerGrowthInterval
                            : Remedy::kNothing});
      last = &r;
    } else if (!std::isfinite(r.norm)) {
      out.push_back({r.step, 1, Cause::kNotSkipped, Remedy::kRestoreCheckpoint});
    } else {
      if (last) sound = 0;
      last = nullptr;
      ++sound;
      held = r.scale.value_or(0);
    }
  }
  if (last && *last->scale_after < 1) {
    out.back().cause = Cause::kDiverged;
    out.back().remedy = Remedy::kLowerRateOrLimit;
  }
  return out;
}

}  // namespace event_log
