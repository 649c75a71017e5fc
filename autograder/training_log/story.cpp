#include "training_log/story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::int64_t kRecovered = 3;  // good steps that count as recovered

std::string scales(std::optional<double> from, std::optional<double> to) {
  if (from && to && *from == *to) return fmt::format(": scale stays {}", shown(*from));
  if (from && to) return fmt::format(": scale {} -> {}", shown(*from), shown(*to));
  return to ? fmt::format(": scale -> {}", shown(*to)) : "";
}

// Where the gradients were not finite, if the log says it: "fc1, fc2".
std::string bad_layers(const Step& step) {
  constexpr int kMost = 3;
  if (!step.bad_layers.empty()) return step.bad_layers.substr(0, 60);
  std::string names;
  int count = 0;
  for (const auto& [name, norm] : step.layers) {
    if (std::isfinite(norm) || ++count > kMost) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return count > kMost ? names + fmt::format(" and {} more", count - kMost) : names;
}

}  // namespace

void Story::add(std::int64_t step, std::string text) { add({step, std::move(text), order_++}); }

void Story::add(Entry entry) {
  if (first_.size() < kKept) {
    first_.push_back(std::move(entry));
    return;
  }
  last_.push_back(std::move(entry));
  if (last_.size() <= kKept) return;
  last_.pop_front();
  ++left_out_;
}

void Story::see(const Moment& moment) {
  if (moment.breaks == Break::kResumed && moment.before != nullptr) {
    end_skips(nullptr);
    add(moment.step(), fmt::format("the run was resumed at step {}; the line before is step {}",
                                   moment.step(), *moment.before->step));
    good_ = 0;
  }
  nonfinite(moment);
  if (moment.skipped()) {
    skipped(moment);
  } else {
    went_on(moment);
    growth(moment);
  }
}

void Story::skipped(const Moment& moment) {
  // Skips with one or two good steps between them are one episode of the scale.
  if (skips_.count == 0) {
    skips_ = {moment.step(),          moment.step(), 0, 0, moment.now.scale, {},
              bad_layers(moment.now), order_++};
  }
  skips_.last = moment.step();
  skips_.count += moment.skips;
  if (moment.now.loss && !std::isfinite(*moment.now.loss)) ++skips_.bad_losses;
  std::optional<double> after = moment.now.scale_after;
  if (!after && moment.after != nullptr && moment.after->scale) after = moment.after->scale;
  if (after) skips_.scale_after = after;
  recovery_ = {};
  good_ = 0;
}

void Story::went_on(const Moment& moment) {
  ++good_;
  if (skips_.count == 0) return;
  if (good_ == 1) recovery_.first = moment.step();
  recovery_.last = moment.step();
  if (good_ >= kRecovered) end_skips(&recovery_);
}

void Story::end_skips(const Recovery* recovery) {
  if (skips_.count == 0) return;
  const bool one = skips_.count == 1;
  // A loss that is not finite is no overflow of the scale's making.
  const char* what = skips_.bad_losses > 0 ? "skipped, the loss not finite" : "overflowed";
  std::string text =
      fmt::format("step{} {} {}", one ? "" : "s", steps_text(skips_.first, skips_.last), what);
  if (!skips_.layers.empty()) text += " in " + skips_.layers;
  if (!one) text += fmt::format(", {} skips", counted(skips_.count));
  text += scales(skips_.scale, skips_.scale_after);
  text += one ? ", the batch left no update" : ", these batches left no update";
  if (recovery != nullptr) {
    text += fmt::format("; steps {} recovered", steps_text(recovery->first, recovery->last));
  } else {
    text += "; the log ends before it recovered";
  }
  add({skips_.first, std::move(text), skips_.order});
  skips_ = {};
}

void Story::growth(const Moment& moment) {
  const bool comparable = moment.before != nullptr && moment.breaks == Break::kNone &&
                          moment.before->scale && moment.now.scale;
  if (!comparable || *moment.now.scale <= *moment.before->scale) return;
  const double from = *moment.before->scale, to = *moment.now.scale;
  add(moment.step(), fmt::format("scale {} -> {} from step {} on{}", shown(from), shown(to),
                                 moment.step(), to == 2 * from ? ": it grew" : ": set anew?"));
}

void Story::nonfinite(const Moment& moment) {
  if (!moment.now.loss) return;
  const bool bad = !std::isfinite(*moment.now.loss);
  if (bad && !bad_loss_) {
    bad_from_ = moment.step();
    bad_value_ = *moment.now.loss;
    bad_count_ = 0;
    bad_order_ = order_++;
  }
  bad_count_ += bad ? 1 : 0;
  if (!bad && bad_loss_) {
    add(bad_from_,
        fmt::format("the loss is {} in {} from step {}, finite again at step {}", shown(bad_value_),
                    plural(bad_count_, "line"), bad_from_, moment.step()));
  }
  bad_loss_ = bad;
}

void Story::hear(const Event& event) {
  if (event.name == "run_start" || event.name == "run_end" || event.name == "skipped_step" ||
      event.name == "overflow") {
    return;
  }
  if (!event.severity || *event.severity == Severity::kInfo) return;
  add(event.step.value_or(0),
      fmt::format("the log reports {} ({}){}{}", event.name, word_of(*event.severity),
                  event.text.empty() ? "" : ": ", event.text));
}

void Story::finish() {
  end_skips(nullptr);
  if (bad_loss_) {
    add({bad_from_,
         fmt::format("the loss is {} from step {} to the end of the log", shown(bad_value_),
                     bad_from_),
         bad_order_});
  }
  bad_loss_ = false;
  const auto earlier = [](const Entry& a, const Entry& b) { return a.order < b.order; };
  std::sort(first_.begin(), first_.end(), earlier);
  std::sort(last_.begin(), last_.end(), earlier);
}

}  // namespace gradlab::training_log
