#include "monitor_impl.hpp"

#include <ATen/ATen.h>
#include <torch/optim/optimizer.h>

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "json_line.hpp"
#include "json_object.hpp"
#include "norms.hpp"
#include "options_check.hpp"

namespace gradlab::monitor {
namespace {

Options checked(const Options& options, const std::vector<torch::optim::Optimizer*>& optimizers) {
  check(options);
  for (size_t i = 0; i < optimizers.size(); ++i) {
    if (optimizers[i] == nullptr) throw errors::null_optimizer(i);
  }
  if (options.scaler != nullptr && optimizers.empty()) throw errors::scaler_without_optimizer();
  return options;
}

}  // namespace

Monitor::Impl::Impl(const Model& model, const std::vector<torch::optim::Optimizer*>& optimizers,
                    const Options& options)
    : options_(checked(options, optimizers)),
      table_(model.layers(), options),
      journal_(options),
      precision_(options.scaler) {
  for (const torch::optim::Optimizer* optimizer : optimizers) {
    if (!plain()) table_.own(*optimizer, static_cast<int>(optimizers_.size()));
    precision_.add(optimizer);
    optimizers_.push_back(optimizer);
  }
  rules_ = plain() ? plain_rules(table_, options_) : better_rules(table_, options_);
  start();
  CallHub::instance().add(this);
}

Monitor::Impl::~Impl() { CallHub::instance().remove(this); }

void Monitor::Impl::start() {
  Fields fields = {{"name", options_.name},
                   {"tool", std::string("gradlab::monitor")},
                   {"rules", std::string(plain() ? "plain" : "better")},
                   {"check_every", options_.check_every},
                   {"warmup", options_.warmup},
                   {"sigma", options_.sigma},
                   {"layers", static_cast<int64_t>(table_.layers().size())},
                   {"parameters", static_cast<int64_t>(table_.parameters().size())},
                   {"optimizers", static_cast<int64_t>(optimizers_.size())},
                   {"scaler", options_.scaler != nullptr && options_.scaler->is_enabled()}};
  journal_.start(fields);
}

// ---- step

void Monitor::Impl::step(c10::function_ref<LossValue()> read_loss) {
  if (closed_) {
    tell_once(told_closed_, "step_after_close", Severity::kWarning, messages::kStepAfterClose);
    return;
  }
  CallHub::instance().stay();
  finish_window();
  ++steps_;
  precision_.refresh();
  begin_window();
  if ((steps_ - 1) % options_.check_every == 0) {
    LossValue loss = read_loss();
    if (!plain()) recognise_scaled(loss);
    window_->record.loss = loss.value;
    look(loss);
  }
  losses_.clear();
  table_.forget_clipping();
  // The update that would end this step is over.
  if (window_->after_update) finish_window();
}

void Monitor::Impl::begin_window() {
  window_.emplace();
  StepRecord& record = window_->record;
  record.step = steps_ - 1;
  if (!optimizers_.empty()) {
    const auto& groups = optimizers_[0]->param_groups();
    if (!groups.empty()) record.lr = groups[0].options().get_lr();
  }
  record.skipped = false;
  if (!precision_.active()) return;
  record.scale = precision_.scale();
  window_->skipped_before = precision_.skipped_now();
  window_->taken_before = precision_.taken_now();
}

const char* Monitor::Impl::late() const {
  if (plain() || !precision_.active()) return nullptr;
  bool all_stepped = true;
  for (size_t i = 0; i < optimizers_.size(); ++i) {
    all_stepped = all_stepped && precision_.stepped(static_cast<int>(i));
  }
  if (all_stepped) return messages::kLateAfterStep;
  return updated_ ? messages::kLateAfterUpdate : nullptr;
}

void Monitor::Impl::look(const LossValue& loss) {
  const char* const why = late();
  if (why != nullptr) {
    ++journal_.counts.late_checks;
    if (!late_) context().tell("late_check", Severity::kWarning, {{"message", std::string(why)}});
  }
  late_ = window_->late = why != nullptr;
  window_->after_update = late_ && updated_;
  norms_.clear();
  loss_ = loss.value;
  loss_notes_.look(context(), loss, precision_.scale());
  if (late_) return;
  Look found = rules_->check(context(), loss, precision_);
  window_->expected_skip = found.skip;
  window_->record.norm = found.norm;
  window_->record.layers = found.layers;
  window_->with_layers = options_.layers_every != 0 && checks_ % options_.layers_every == 0;
  norms_ = std::move(found.layers);
  ++checks_;
}

// A loss that is one that the scaler multiplied, or their sum, was handed in scaled.
void Monitor::Impl::recognise_scaled(LossValue& loss) const {
  if (!loss.value || !precision_.active() || precision_.scale() == 1 || *loss.value == 0) return;
  double sum = 0;
  bool found = false;
  for (const at::Tensor& given : losses_) {
    const std::optional<double> one = loss_value(given).value;
    if (!one) continue;
    const double tolerance = given.element_size() < 4 ? 1e-2 : 1e-5;
    const auto is = [&](double unscaled) {
      const double scaled = unscaled * precision_.scale();
      return std::abs(*loss.value - scaled) <= tolerance * std::abs(scaled);
    };
    sum += *one;
    found = found || is(*one) || is(sum);
  }
  if (!found || !precision_.usable_scale()) return;
  *loss.value /= precision_.scale();
  loss.was_scaled = true;
}

void Monitor::Impl::tell_once(bool& told, const char* name, Severity severity,
                              const char* message) {
  if (told) return;
  told = true;
  context().tell(name, severity, {{"message", std::string(message)}});
}

// ---- the end of a step

double Clip::coefficient() const {
  const double total = norm.item().toDouble();
  const double coefficient = max_norm / (total + amp::kClipEpsilon);
  return coefficient > 1 ? 1 : coefficient;
}

void Monitor::Impl::finish_window() {
  if (!window_) return;
  Window window = std::move(*window_);
  window_.reset();
  StepRecord& record = window.record;
  if (!clips_.empty()) {
    record.max_norm = clips_.back().max_norm;
    record.clipped = std::any_of(clips_.begin(), clips_.end(),
                                 [](const Clip& clip) { return !(clip.coefficient() >= 1); });
    clips_.clear();
  }
  if (record.scale) finish_scaled(window);
  journal_.record(record, window.with_layers);
}

void Monitor::Impl::finish_scaled(Window& window) {
  StepRecord& record = window.record;
  const bool skipped = precision_.skipped_now() > window.skipped_before;
  const bool stepped = precision_.taken_now() > window.taken_before;
  // Neither where scaler.step() came before the check, or not at all.
  record.skipped =
      skipped ||
      (!stepped && (window.late ? precision_.last_step_skipped() : window.expected_skip));
  const amp::GradScaler& scaler = *precision_.scaler();
  const double scale = *record.scale;
  // After update() the scale that was used is no longer known.
  if (window.after_update) record.scale.reset();
  record.scale_after = scaler.get_scale();
  record.growth_tracker = scaler.growth_tracker();
  if (*record.skipped) ++skipped_total_;
  record.skipped_total = skipped_total_;
  if (plain()) return;
  const Context then{journal_, options_, record.step};
  if (*record.skipped && !window.expected_skip) {
    ++journal_.counts.skipped_steps;
    then.tell("skipped_step", Severity::kInfo,
              {{"scale", scale},
               {"layers", std::vector<std::string>()},
               {"message", std::string(messages::kSkippedLate)}});
  }
  scale_watch_.look(then, *record.skipped, scale);
}

void Monitor::Impl::close() {
  if (closed_) return;
  finish_window();
  closed_ = true;
  CallHub::instance().remove(this);
  journal_.end(steps_, checks_);
}

}  // namespace gradlab::monitor
