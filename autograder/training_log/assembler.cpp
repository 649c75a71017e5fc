#include "training_log/assembler.hpp"

#include <algorithm>
#include <cmath>

namespace gradlab::training_log {
namespace {

constexpr std::size_t kMostPending = 4096;
constexpr std::int64_t kMostLag = 8;

bool same(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return true;
  if (std::isnan(*a) || std::isnan(*b)) return std::isnan(*a) == std::isnan(*b);
  if (std::isinf(*a) || std::isinf(*b)) return *a == *b;
  return std::fabs(*a - *b) <= 1e-3 * std::max(std::fabs(*a), std::fabs(*b));
}

template <typename T>
void fill(std::optional<T>& into, const std::optional<T>& from) {
  if (!into) into = from;
}

bool tells_of_overflow(const Event& event) {
  return event.name == "overflow" || event.name == "skipped_step";
}

}  // namespace

void Assembler::step(Step step) {
  take_total(step);
  if (step.time) {
    if (last_time_ && *step.time < *last_time_) ++oddities_.clock_back;
    last_time_ = step.time;
  }
  place(step);
  if (merge(step)) return;
  if (is_late(step)) {
    ++oddities_.late;
    return;
  }
  flush();
  held_break_ = break_before(step);
  take_pending(step);
  held_ = std::move(step);
}

void Assembler::place(Step& step) {
  if (step.step) return;
  ++oddities_.unnumbered;
  step.inferred_step = true;
  step.step = held_ ? *held_->step + 1 : last_step_ + 1;
}

// A rank's own line, or the part of the step that another file or line holds.
bool Assembler::merge(const Step& step) {
  if (!held_ || held_->step != step.step || next_break_ != Break::kNone) return false;
  const bool adds = (step.loss && !held_->loss) || (step.norm && !held_->norm);
  if (!adds) ++oddities_.merged;
  if (!same(held_->loss, step.loss) || !same(held_->norm, step.norm)) {
    if (oddities_.conflicting++ == 0) oddities_.first_conflict = *step.step;
  }
  for (auto field : {&Step::loss, &Step::scale, &Step::scale_after, &Step::norm, &Step::lr,
                     &Step::max_norm, &Step::time, &Step::epoch, &Step::batch}) {
    fill((*held_).*field, step.*field);
  }
  fill(held_->clipped, step.clipped);
  fill(held_->skipped, step.skipped);
  fill(held_->skips, step.skips);
  fill(held_->growth_tracker, step.growth_tracker);
  fill(held_->micro_batches, step.micro_batches);
  if (held_->layers.empty()) held_->layers = step.layers;
  return true;
}

bool Assembler::is_late(const Step& step) const {
  if (!step.loss || next_break_ != Break::kNone || !held_ || *step.step >= *held_->step) {
    return false;
  }
  // A rank lags a few steps; the first step again is a run begun anew.
  if (*held_->step - *step.step > kMostLag || *step.step == first_step_) return false;
  const std::size_t count = std::min(recent_count_, recent_.size());
  return std::any_of(
      recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(count),
      [&](const auto& each) { return each.first == *step.step && same(each.second, step.loss); });
}

// "skipped=1" is a flag in one trainer and a running total in the next: a total never falls, a flag
// is never above 1. Until one is shown, only a rise is a skip; a second 1 stays unknown.
void Assembler::take_total(Step& step) {
  if (!step.skipped_total) return;
  const std::int64_t now = *step.skipped_total;
  if (now > 1) total_ = Total::kRunning;
  if (total_ == Total::kUnknown && last_total_ && now < *last_total_) total_ = Total::kFlag;
  if (total_ == Total::kFlag) {
    step.skipped = now != 0;
  } else if (!last_total_ || now < *last_total_) {
    step.skips = now;
  } else if (now > *last_total_ || total_ == Total::kRunning || now == 0) {
    step.skips = now - *last_total_;
  }
  last_total_ = now;
}

void Assembler::take_pending(Step& step) {
  if (pending_.empty()) return;
  const auto count = static_cast<std::int64_t>(pending_.size());
  const bool one_step = any_ && *step.step - last_step_ == 1;
  // An overflow of each step between the lines belongs to a step of its own.
  if (!step.skips) {
    if (count == 1 && one_step) {
      step.skipped = true;
    } else {
      step.skips = count;
    }
  }
  if (pending_.front().scale) step.scale = pending_.front().scale;
  if (!step.scale && pending_.front().scale_after) step.scale = *pending_.front().scale_after * 2;
  if (!step.scale_after) step.scale_after = pending_.back().scale_after;
  pending_.clear();
}

Break Assembler::break_before(const Step& step) {
  Break found = next_break_;
  next_break_ = Break::kNone;
  const bool back = any_ && *step.step <= last_step_;
  if (back) {
    if (oddities_.went_back++ == 0) {
      oddities_.back_from = last_step_;
      oddities_.back_to = *step.step;
    }
    if (found == Break::kNone) {
      found = *step.step <= first_step_ + 1 ? Break::kNewRun : Break::kResumed;
    }
  }
  // A second run_start: a step that begins over is a new run, one that goes on a resumed one.
  if (found == Break::kResumed && any_ && *step.step <= first_step_ + 1) found = Break::kNewRun;
  if (!any_) found = Break::kNone;
  if (found == Break::kNewRun || !any_) first_step_ = *step.step;
  if (found == Break::kNewRun) {
    last_total_.reset();
    recent_count_ = 0;
  }
  return found;
}

void Assembler::flush() {
  if (held_) {
    any_ = true;
    last_step_ = *held_->step;
    if (held_->loss) {
      recent_[recent_count_++ % recent_.size()] = {last_step_, *held_->loss};
    }
    listener_.step(*held_, held_break_);
    held_.reset();
  }
  for (const Event& event : behind_) listener_.event(event);
  behind_.clear();
}

void Assembler::skipped_event(const Event& event) {
  Step step;
  step.step = event.step;
  step.skipped = true;
  step.scale = event.scale;
  step.line = event.line;
  const bool held = held_ && held_->step == event.step;
  if (held) {
    held_->skipped = true;
    held_->bad_layers = event.layers;
  }
  step.bad_layers = event.layers;
  this->step(std::move(step));
  if (held) --oddities_.merged;  // the step's event, not its second line
}

void Assembler::event(Event event) {
  if (tells_of_overflow(event) && !event.step) {
    if (event.text.starts_with("rank ")) {
      if (rank_.empty()) rank_ = event.text;
      if (event.text != rank_) return;
    }
    pending_.push_back(std::move(event));
    if (pending_.size() >= kMostPending) flush_pending();
    return;
  }
  if (event.name == "skipped_step" && event.step) skipped_event(event);
  if (event.name == "run_start" || event.name == "resume") {
    flush();
    if (any_) next_break_ = Break::kResumed;
  }
  if (event.name == "run_end") flush();  // no other line of its last step will come
  if (!event.step) event.step = held_ ? held_->step : std::optional(last_step_ + 1);
  if (held_) {
    behind_.push_back(std::move(event));
    if (behind_.size() < kMostPending) return;
    for (const Event& each : behind_) listener_.event(each);
    behind_.clear();
    return;
  }
  listener_.event(event);
}

// Overflow lines with no numbered line behind them: a step each, so that a run that only overflows
// can be told.
void Assembler::flush_pending() {
  std::vector<Event> waiting;
  waiting.swap(pending_);
  for (const Event& overflow : waiting) {
    Step step;
    step.line = overflow.line;
    step.skipped = true;
    step.scale = overflow.scale;
    step.scale_after = overflow.scale_after;
    if (!step.scale && overflow.scale_after) step.scale = *overflow.scale_after * 2;
    this->step(std::move(step));
  }
}

void Assembler::finish() {
  flush_pending();
  flush();
}

}  // namespace gradlab::training_log
