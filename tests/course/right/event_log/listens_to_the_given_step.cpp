#include "event_log.hpp"

#include <array>
#include <cstdio>

namespace event_log {

namespace amp = gradlab::amp;

namespace {

// Listens while training_step runs, and passes everything on to whoever listened before.
class Listener final : public amp::Observer {
 public:
  explicit Listener(const torch::optim::Optimizer& optimizer)
      : optimizer_(optimizer), outer_(amp::set_observer(this)) {}
  ~Listener() override { amp::set_observer(outer_); }

  void begin(const amp::Event& event) noexcept override {
    if (outer_ != nullptr) outer_->begin(event);
    if (event.call == amp::Call::kClipGradNorm) before_ = measure();
  }
  void end(const amp::Event& event) noexcept override {
    if (event.call == amp::Call::kClipGradNorm) after_ = measure();
    if (outer_ != nullptr) outer_->end(event);
  }

  double measure() const {
    std::vector<torch::Tensor> gradients;
    for (const auto& parameter : amp::parameters_of(optimizer_)) {
      gradients.emplace_back(parameter.grad());
    }
    return true_norm(gradients, 1, true);
  }
  std::optional<double> before() const { return before_; }
  bool shrunk() const { return before_ && after_ && *after_ < *before_; }

 private:
  const torch::optim::Optimizer& optimizer_;
  amp::Observer* outer_;
  std::optional<double> before_, after_;
};

template <typename T>
struct Is {
  T low, high;
  bool operator()(const T& value) const { return low <= value && value <= high; }
};

}  // namespace

Record logged_step(const Loop& loop, const int64_t step, const torch::Tensor& loss) {
  const auto scale_now = [&] {
    return loop.scaler.is_enabled() ? std::optional(loop.scaler.get_scale()) : std::nullopt;
  };
  Record record{step, loss.item<double>(), scale_now()};
  record.lr = loop.optimizer.param_groups().begin()->options().get_lr();
  const int64_t skipped_before = loop.scaler.steps_skipped();

  Listener listener(loop.optimizer);
  training_step(loop, loss);

  // Without a limit the gradients are now as the optimizer has seen them: unscaled, not clipped.
  record.norm = listener.before() ? *listener.before() : listener.measure();
  record.clipped = listener.shrunk();
  record.skipped = loop.scaler.steps_skipped() != skipped_before;
  record.scale_after = scale_now();
  return record;
}

std::string json_line(const Record& record) {
  struct Field {
    const char* key;
    std::optional<double> value;
  };
  const std::array<Field, 5> fields{{{"lr", record.lr},
                                     {"norm", record.norm},
                                     {"loss", record.loss},
                                     {"scale", record.scale},
                                     {"scale_after", record.scale_after}}};
  std::string line = "{ \"clipped\": ";
  line.append(record.clipped ? "true" : "false");
  for (const auto& [key, value] : fields) {
    if (!value) continue;
    line.append(", \"").append(key).append("\": ");
    switch (std::fpclassify(*value)) {
      case FP_NAN:
        line.append("\"nan\"");
        break;
      case FP_INFINITE:
        line.append(*value < 0 ? "\"-inf\"" : "\"inf\"");
        break;
      default: {
        std::array<char, 48> text{};
        const int size = std::snprintf(text.data(), text.size(), "%.16e", *value);
        line.append(text.data(), static_cast<size_t>(size));
      }
    }
  }
  line.append(", \"skipped\": ").append(record.skipped ? "true" : "false");
  line.append(", \"event\": \"step\", \"step\": ").append(std::to_string(record.step));
  return line.append(" }\n");
}

double true_norm(const std::vector<torch::Tensor>& gradients, double scale, bool unscaled) {
  double length = 0;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    const auto flat = gradient.detach().to(torch::kDouble).contiguous();
    const double* const first = flat.data_ptr<double>();
    double squares = 0;
    for (int64_t i = 0; i < flat.numel(); ++i) squares += first[i] * first[i];
    length = std::hypot(length, std::sqrt(squares));
  }
  // hypot(inf, NaN) is inf, which will do as well.
  if (!unscaled) length /= scale;
  return length;
}

std::optional<Event> watch(const Record& record, Baseline& baseline) {
  if (record.skipped) return Event{EventName::kSkippedStep, Severity::kInfo};
  if (!(std::abs(record.norm) < INFINITY)) {
    return Event{EventName::kNonfiniteGradient, Severity::kCritical};
  }
  const double margin = baseline.updates < kWarmUp ? INFINITY : baseline.margin();
  const Is<double> usual{baseline.mean - margin, baseline.mean + margin};
  const double x = log_norm(record.norm);
  if (!usual(x)) {
    return Event{x < usual.low ? EventName::kVanishing : EventName::kExploding,
                 Severity::kWarning};
  }
  return baseline.accept(record.norm), std::nullopt;
}

std::vector<Finding> read_log(const std::vector<Record>& log) {
  std::string shape;  // one letter a record
  for (const Record& record : log) {
    shape += record.skipped ? 's' : std::isfinite(record.norm) ? '.' : 'x';
  }
  std::vector<Finding> findings;
  size_t end = 0;
  for (size_t at = shape.find_first_of("sx"); at != std::string::npos;
       at = shape.find_first_of("sx", end)) {
    const Record& first = log[at];
    const size_t clear = at - end;
    end = shape[at] == 'x' ? shape.size() : std::min(shape.find_first_not_of('s', at), shape.size());
    Finding& finding = findings.emplace_back(Finding{first.step, static_cast<int64_t>(end - at),
                                                     Cause::kNotSkipped,
                                                     Remedy::kRestoreCheckpoint});
    if (shape[at] == 'x') break;
    if (end == log.size() && log.back().scale_after < 1.0) {
      finding.cause = Cause::kDiverged;
      finding.remedy = Remedy::kLowerRateOrLimit;
    } else if (!std::isfinite(first.loss) || (at != 0 && log[at - 1].scale >= first.scale)) {
      finding.cause = Cause::kBadBatch;
      finding.remedy = Remedy::kLookAtBatch;
    } else {
      finding.cause = Cause::kScaleTooHigh;
      finding.remedy = findings.size() > 1 && clear < 10 ? Remedy::kLongerGrowthInterval
                                                         : Remedy::kNothing;
    }
  }
  return findings;
}

}  // namespace event_log
