// The rules of ormas-monitor 0.2.3, decision by decision: norms in float32, skips inferred from
// them, log10 baselines that freeze while a condition holds. Its faults are kept: what mends them
// is better_rules.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "alarm_episode.hpp"
#include "errors.hpp"
#include "gradient_reader.hpp"
#include "loss_watch.hpp"
#include "rule_set.hpp"

namespace gradlab::monitor {
namespace {

constexpr double kZeroLog = 1e-30;   // a zero norm's logarithm is -30
constexpr double kDeadLog = -29;     // a layer whose mean is no higher never had a gradient
constexpr double kDeviation = 1e-6;  // of a baseline that never moved

struct PlainLayer {
  std::string name, kind;
  Baseline baseline;
  AlarmEpisode episode;

  Diagnosis diagnose(const Options& options, double norm, double x) const {
    if (baseline.n < options.warmup) return Diagnosis::kNone;
    const double margin =
        std::max(options.sigma * (baseline.deviation() + kDeviation), options.alarm_min_decades);
    if (norm == 0 && baseline.mean > kDeadLog) return Diagnosis::kNoGradient;
    if (x < baseline.mean - margin) return Diagnosis::kVanishing;
    if (x > baseline.mean + margin) return Diagnosis::kExploding;
    return Diagnosis::kNone;
  }

  void look(const Context& context, double norm) {
    const double x = std::log10(norm + kZeroLog);
    const Diagnosis condition = diagnose(context.options, norm, x);
    const double before = std::pow(10, baseline.mean);
    switch (episode.see(condition, context.options.alarm_confirmations)) {
      case AlarmEpisode::Change::kOpened:
        ++context.journal.counts.alarms;
        context.tell("alarm", Severity::kWarning,
                     {{"layer", name},
                      {"kind", kind},
                      {"diagnosis", std::string(monitor::name(condition))},
                      {"grad_norm", norm},
                      {"baseline", before},
                      {"sigma", context.options.sigma}});
        break;
      case AlarmEpisode::Change::kCleared:
        context.tell("alarm_cleared", Severity::kInfo,
                     {{"layer", name},
                      {"diagnosis", std::string(monitor::name(episode.cleared))},
                      {"grad_norm", norm},
                      {"baseline", before}});
        break;
      case AlarmEpisode::Change::kNothing:
        break;
    }
    if (condition == Diagnosis::kNone) baseline.update(x, context.options.baseline_rate_floor);
  }
};

class PlainRules : public RuleSet {
 public:
  explicit PlainRules(const ParameterTable& table) : table_(table) {
    for (const TableLayer& layer : table.layers())
      layers_.push_back({layer.name, layer.kind, {}, {}});
  }

  Look check(const Context& context, const LossValue& loss, const Precision& precision) override {
    Look look;
    const std::vector<std::string> bad = read(precision, look);
    look.skip = precision.active() && !bad.empty();
    if (loss.value) loss_.look(context, *loss.value, look.skip);
    if (look.layers.empty()) {
      no_gradients(context);
      return look;
    }
    if (look.skip) {
      ++context.journal.counts.skipped_steps;
      context.tell("skipped_step", Severity::kInfo,
                   {{"scale", precision.scale()}, {"layers", first(bad, context.options)}});
      return look;
    }
    if (!bad.empty() && !nonfinite_) {
      ++context.journal.counts.nonfinite;
      context.tell("nonfinite_gradient", Severity::kCritical,
                   {{"layers", first(bad, context.options)}});
    }
    nonfinite_ = !bad.empty();
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (norms_[i] && std::isfinite(*norms_[i])) layers_[i].look(context, *norms_[i]);
    }
    return look;
  }

  std::vector<std::pair<std::string, std::string>> alarms() const override {
    std::vector<std::pair<std::string, std::string>> all;
    for (const PlainLayer& layer : layers_) {
      if (layer.episode.open == Diagnosis::kNone) continue;
      all.emplace_back(layer.name, name(layer.episode.open));
    }
    return all;
  }

  void exchange(Numbers& numbers) override {
    loss_.exchange(numbers);
    numbers.value("nonfinite", nonfinite_);
    numbers.value("told_no_gradients", told_no_gradients_);
    for (PlainLayer& layer : layers_) {
      const std::string prefix = "layer/" + layer.name + "/";
      if (!numbers.has(prefix + "n")) continue;
      monitor::exchange(numbers, prefix, layer.baseline);
      numbers.choice(prefix + "open", layer.episode.open, Diagnosis::kExploding);
      numbers.choice(prefix + "pending", layer.episode.pending, Diagnosis::kExploding);
      numbers.value(prefix + "pending_count", layer.episode.pending_count);
    }
  }

 private:
  static std::vector<std::string> first(std::vector<std::string> names, const Options& options) {
    names.resize(std::min(names.size(), static_cast<size_t>(options.layer_list_limit)));
    return names;
  }

  // Fills the norms; returns the layers whose norm is not finite.
  std::vector<std::string> read(const Precision& precision, Look& look) {
    std::vector<std::string> bad;
    norms_.assign(layers_.size(), std::nullopt);
    const bool scaled = precision.active() && (precision.optimizers() == 0 ||
                                               precision.view(0).stage != amp::Stage::kUnscaled);
    double squares = 0;
    for (size_t i = 0; i < layers_.size(); ++i) {
      std::optional<double> norm = layer_norm(table_.layers()[i]);
      if (!norm) continue;
      if (scaled) *norm /= precision.scale();
      norms_[i] = norm;
      squares += *norm * *norm;
      look.layers.emplace_back(layers_[i].name, *norm);
      if (!std::isfinite(*norm)) bad.push_back(layers_[i].name);
    }
    if (!look.layers.empty()) look.norm = std::sqrt(squares);
    return bad;
  }

  // The float32 norm of the parameters' norms; none where no parameter has a gradient.
  std::optional<double> layer_norm(const TableLayer& layer) const {
    const at::NoGradGuard no_grad;
    std::vector<double> norms;
    for (const size_t parameter : layer.parameters) {
      const at::Tensor& gradient = table_.parameters()[parameter].tensor.grad();
      if (gradient.defined()) norms.push_back(float32_norm(gradient));
    }
    if (norms.empty()) return std::nullopt;
    const at::Tensor all = at::tensor(norms, at::kDouble).to(at::kFloat);
    return at::linalg_vector_norm(all, 2).item().toDouble();
  }

  void no_gradients(const Context& context) {
    ++context.journal.counts.checks_without_gradients;
    if (!told_no_gradients_) {
      context.tell("no_gradients", Severity::kWarning,
                   {{"message", std::string(messages::kNoGradients)}});
    }
    told_no_gradients_ = true;
  }

  const ParameterTable& table_;
  std::vector<PlainLayer> layers_;
  std::vector<std::optional<double>> norms_;
  LossWatch loss_;
  bool nonfinite_ = false;
  bool told_no_gradients_ = false;
};

}  // namespace

std::unique_ptr<RuleSet> plain_rules(const ParameterTable& table, const Options& /*options*/) {
  return std::make_unique<PlainRules>(table);
}

}  // namespace gradlab::monitor
