// The default rules. Norms in double; what the scaler knows instead of what a norm suggests, for
// each optimizer on its own; layers of an optimizer that skips are left alone, the others go on.
#include <algorithm>

#include "better_layer.hpp"
#include "errors.hpp"
#include "gradient_reader.hpp"
#include "joined_norm.hpp"
#include "loss_watch.hpp"
#include "rule_set.hpp"
#include "underflow.hpp"

namespace gradlab::monitor {
namespace {

struct LayerNorm {
  JoinedNorm norm;
  bool skips = false;  // an optimizer that skips has a part of it
  bool finite = true;
};

class BetterRules : public RuleSet {
 public:
  explicit BetterRules(const ParameterTable& table) : table_(table) {
    for (const TableLayer& layer : table.layers()) {
      layers_.emplace_back(layer.name, layer.kind);
      underflow_.emplace_back();
    }
  }

  Look check(const Context& context, const LossValue& loss, const Precision& precision) override {
    Look look;
    if (bad_scale(context, precision)) {
      if (loss.value) loss_.look(context, *loss.value, /*skipped=*/true);
      return look;
    }
    readings_ = &reader_.read(table_.parameters());
    find_skips(precision);
    find_norms(precision, look);
    look.skip = std::find(skips_.begin(), skips_.end(), true) != skips_.end();
    const bool all_skip =
        look.skip && std::find(skips_.begin(), skips_.end(), false) == skips_.end();
    if (loss.value) loss_.look(context, *loss.value, all_skip);
    if (!look.norm) {
      no_gradients(context);
      return look;
    }
    told_no_gradients_ = false;
    if (look.skip) tell_skip(context, precision);
    tell_nonfinite(context);
    look_at_layers(context);
    if (context.options.underflow_every != 0 && precision.active() && !look.skip &&
        checks_++ % context.options.underflow_every == 0) {
      look_for_underflow(context, precision);
    }
    return look;
  }

  std::vector<std::pair<std::string, std::string>> alarms() const override {
    std::vector<std::pair<std::string, std::string>> all;
    for (const BetterLayer& layer : layers_) {
      if (layer.open() != Diagnosis::kNone) all.emplace_back(layer.name(), name(layer.open()));
    }
    return all;
  }

  void exchange(Numbers& numbers) override {
    loss_.exchange(numbers);
    numbers.value("nonfinite", nonfinite_);
    for (BetterLayer& layer : layers_) layer.exchange(numbers);
  }

 private:
  // ---- reading

  bool bad_scale(const Context& context, const Precision& precision) {
    const bool bad = precision.active() && !precision.usable_scale();
    if (bad && !bad_scale_) {
      context.tell("bad_scale", Severity::kCritical,
                   {{"scale", precision.scale()}, {"message", std::string(messages::kBadScale)}});
    }
    bad_scale_ = bad;
    return bad;
  }

  // Of each optimizer: what the scaler found where it has looked, else what it is about to find.
  void find_skips(const Precision& precision) {
    skips_.assign(precision.active() ? precision.optimizers() : 0, false);
    std::vector<bool> overflows(skips_.size(), false);
    for (size_t i = 0; i < readings_->size(); ++i) {
      const int owner = table_.parameters()[i].optimizer;
      if (!(*readings_)[i].finite && owner >= 0 && static_cast<size_t>(owner) < overflows.size()) {
        overflows[static_cast<size_t>(owner)] = true;
      }
    }
    for (size_t i = 0; i < skips_.size(); ++i) {
      const amp::OptimizerView& view = precision.view(static_cast<int>(i));
      skips_[i] = view.found_inf.value_or(overflows[i]);
    }
  }

  bool owner_skips(size_t parameter) const {
    const int owner = table_.parameters()[parameter].optimizer;
    return owner >= 0 && static_cast<size_t>(owner) < skips_.size() &&
           skips_[static_cast<size_t>(owner)];
  }

  // True magnitudes of every parameter, of all together, and of each layer.
  void find_norms(const Precision& precision, Look& look) {
    JoinedNorm total;
    norms_.assign(readings_->size(), 0);
    for (size_t i = 0; i < readings_->size(); ++i) {
      const Reading& reading = (*readings_)[i];
      if (!reading.present) continue;
      const TableParameter& parameter = table_.parameters()[i];
      norms_[i] = reading.norm / parameter.coefficient;
      if (precision.scaled(parameter.optimizer)) norms_[i] /= precision.scale();
      total.add(norms_[i]);
    }
    if (total.any) look.norm = total.value();
    found_.assign(layers_.size(), LayerNorm());
    for (size_t i = 0; i < layers_.size(); ++i) {
      for (const size_t parameter : table_.layers()[i].parameters) {
        if (!(*readings_)[parameter].present) continue;
        found_[i].norm.add(norms_[parameter]);
        found_[i].finite = found_[i].finite && (*readings_)[parameter].finite;
        found_[i].skips = found_[i].skips || owner_skips(parameter);
      }
      if (found_[i].norm.any) look.layers.emplace_back(layers_[i].name(), found_[i].norm.value());
    }
  }

  // ---- telling

  void no_gradients(const Context& context) {
    ++context.journal.counts.checks_without_gradients;
    if (!told_no_gradients_) {
      context.tell("no_gradients", Severity::kWarning,
                   {{"message", std::string(messages::kNoGradients)}});
    }
    told_no_gradients_ = true;
  }

  // The layers and the first parameter, in the table's order, with inf or NaN whose optimizer does
  // or does not skip.
  Fields offenders(const Options& options, bool of_skipping) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (found_[i].finite || static_cast<int64_t>(names.size()) == options.layer_list_limit)
        continue;
      const auto& places = table_.layers()[i].parameters;
      const bool any = std::any_of(places.begin(), places.end(), [&](size_t place) {
        return !(*readings_)[place].finite && owner_skips(place) == of_skipping;
      });
      if (any) names.push_back(layers_[i].name());
    }
    Fields fields = {{"layers", std::move(names)}};
    for (size_t i = 0; i < readings_->size(); ++i) {
      if ((*readings_)[i].finite || owner_skips(i) != of_skipping) continue;
      const TableParameter& parameter = table_.parameters()[i];
      fields.emplace_back("parameter", parameter.name);
      fields.emplace_back("elements", nonfinite_elements(parameter.tensor.grad()));
      fields.emplace_back("of", parameter.tensor.numel());
      break;
    }
    return fields;
  }

  void tell_skip(const Context& context, const Precision& precision) {
    ++context.journal.counts.skipped_steps;
    Fields fields = offenders(context.options, /*of_skipping=*/true);
    fields.emplace(fields.begin(), "scale", precision.scale());
    if (skips_.size() > 1) {
      std::vector<std::string> numbers;
      for (size_t i = 0; i < skips_.size(); ++i) {
        if (skips_[i]) numbers.push_back(std::to_string(i));
      }
      fields.emplace_back("optimizers", std::move(numbers));
    }
    context.tell("skipped_step", Severity::kInfo, std::move(fields));
  }

  // inf or NaN that will be applied: no scaler, or one that did not find it.
  void tell_nonfinite(const Context& context) {
    bool any = false;
    for (size_t i = 0; i < readings_->size(); ++i) {
      any = any || (!(*readings_)[i].finite && !owner_skips(i));
    }
    if (any && !nonfinite_) {
      ++context.journal.counts.nonfinite;
      context.tell("nonfinite_gradient", Severity::kCritical,
                   offenders(context.options, /*of_skipping=*/false));
    }
    nonfinite_ = any;
  }

  void look_at_layers(const Context& context) {
    const double trend = loss_.trend();
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (!found_[i].norm.any) {
        layers_[i].missing(context);
      } else if (!found_[i].skips && found_[i].finite) {
        layers_[i].look(context, found_[i].norm.value(), trend);
      }
    }
  }

  void look_for_underflow(const Context& context, const Precision& precision) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      SmallElements small;
      for (const size_t place : table_.layers()[i].parameters) {
        const TableParameter& parameter = table_.parameters()[place];
        if (!(*readings_)[place].present) continue;
        const double factor = precision.scaled(parameter.optimizer) ? 1 : precision.scale();
        count_small(parameter.tensor.grad(), factor / parameter.coefficient, small);
      }
      underflow_[i].look(context, layers_[i].name(), small, precision.scale());
    }
  }

  const ParameterTable& table_;
  GradientReader reader_;
  std::vector<BetterLayer> layers_;
  LossWatch loss_;
  // Of the check in progress:
  const std::vector<Reading>* readings_ = nullptr;
  std::vector<double> norms_;     // of each parameter, true magnitude
  std::vector<LayerNorm> found_;  // of each layer
  std::vector<bool> skips_;       // of each optimizer
  // Episodes:
  std::vector<UnderflowWatch> underflow_;  // of each layer
  int64_t checks_ = 0;
  bool nonfinite_ = false, bad_scale_ = false, told_no_gradients_ = false;
};

}  // namespace

std::unique_ptr<RuleSet> better_rules(const ParameterTable& table, const Options& /*options*/) {
  return std::make_unique<BetterRules>(table);
}

}  // namespace gradlab::monitor
