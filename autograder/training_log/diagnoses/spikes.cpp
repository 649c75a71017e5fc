// Losses that jump and come back, and whether the same data brings them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "training_log/diagnoses/detector.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::size_t kNeeded = 16;   // losses before a jump can be told
constexpr std::int64_t kLongest = 5;  // lines a spike lasts at most
constexpr std::size_t kMostSpikes = 256;

struct Spike {
  std::int64_t step = 0;
  double loss = 0, usual = 0;
  std::optional<double> position, epoch;
};

class Spikes : public Detector {
 public:
  using Detector::Detector;

  void see(const Moment& moment) override {
    follow_epoch(moment);
    if (moment.breaks != Break::kNone) leave();
    if (!moment.loss_is_finite() || moment.skipped()) return;
    const double loss = *moment.now.loss;
    if (open_) {
      ++open_lines_;
      if (loss < open_->usual + 0.5 * (open_->loss - open_->usual)) return close(loss);
      if (open_lines_ > kLongest) leave();  // a new level, not a spike
      return;
    }
    if (recent_.count() >= kNeeded && is_jump(loss)) {
      open_ = Spike{moment.step(), loss, recent_.median(), position(moment), epoch_};
      open_lines_ = 1;
      return;
    }
    recent_.add(loss);
  }

  void finish(std::vector<Finding>& findings) override {
    const auto same = at_same_data();
    if (!same.empty()) tell_same(same, findings);
    std::vector<Spike> others;
    for (const Spike& spike : spikes_) {
      const bool told = std::any_of(same.begin(), same.end(),
                                    [&](const Spike& each) { return each.step == spike.step; });
      if (!told) others.push_back(spike);
    }
    if (!others.empty()) tell_single(others, findings);
  }

 private:
  bool is_jump(double loss) const {
    const double middle = recent_.median();
    const double needed = std::max(8 * recent_.spread(), 0.3 * std::fabs(middle));
    return loss > middle + needed && loss > recent_.most() + 0.5 * needed;
  }

  void close(double loss) {
    if (spikes_.size() < kMostSpikes) spikes_.push_back(*open_);
    open_.reset();
    recent_.add(loss);
  }

  void leave() {
    open_.reset();
    recent_.clear();
  }

  // The place in the data: an index that the log gives, or the place within a whole epoch.
  void follow_epoch(const Moment& moment) {
    const auto& epoch = moment.now.epoch;
    if (moment.now.batch) {
      places_ = std::max(places_, *moment.now.batch + 1);
      epoch_ = epoch ? std::optional(std::floor(*epoch)) : epoch_of_batches(*moment.now.batch);
      return;
    }
    if (!epoch || !std::isfinite(*epoch)) return;
    const bool fraction = *epoch != std::floor(*epoch);
    fractions_ = fractions_ || fraction;
    if (!epoch_ || std::floor(*epoch) != *epoch_) {
      if (epoch_ && !fractions_) places_ = static_cast<double>(moment.step() - epoch_begin_);
      epoch_ = std::floor(*epoch);
      epoch_begin_ = moment.step();
    }
  }

  std::optional<double> epoch_of_batches(double batch) {
    if (last_batch_ && batch < *last_batch_) rounds_ += 1;
    last_batch_ = batch;
    return rounds_;
  }

  std::optional<double> position(const Moment& moment) const {
    if (moment.now.batch) return moment.now.batch;
    if (!moment.now.epoch || fractions_) return std::nullopt;
    return static_cast<double>(moment.step() - epoch_begin_);
  }

  // Two spikes at one of N places are chance once in 2N/k^2 for k spikes; three hardly ever.
  std::vector<Spike> at_same_data() const {
    std::map<double, std::vector<Spike>> by_place;
    for (const Spike& spike : spikes_) {
      if (spike.position && spike.epoch) by_place[*spike.position].push_back(spike);
    }
    const double k = static_cast<double>(spikes_.size());
    std::vector<Spike> found;
    for (const auto& [place, group] : by_place) {
      std::set<double> epochs;
      for (const Spike& spike : group) epochs.insert(*spike.epoch);
      const bool chance = epochs.size() == 2 && k * k / (2 * std::max(places_, 1.0)) > 0.2;
      if (epochs.size() < 2 || chance) continue;
      found.insert(found.end(), group.begin(), group.end());
    }
    return found;
  }

  void tell_same(const std::vector<Spike>& same, std::vector<Finding>& findings) const {
    Finding told = finding("spike_same_data", same.front().step, same.back().step);
    for (const Spike& spike : same) {
      if (told.evidence.size() == 4) break;
      told.evidence.push_back(fmt::format("epoch {}, batch {}: loss {} at step {}, usually {}",
                                          shown(*spike.epoch), shown(*spike.position),
                                          shown(spike.loss), spike.step, shown(spike.usual)));
    }
    told.confidence = same.size() >= 3 ? Confidence::kHigh : Confidence::kMedium;
    findings.push_back(told);
  }

  static void tell_single(const std::vector<Spike>& spikes, std::vector<Finding>& findings) {
    Finding told = finding("loss_spike", spikes.front().step, spikes.back().step);
    for (const Spike& spike : spikes) {
      if (told.evidence.size() == 3) break;
      told.evidence.push_back(fmt::format("loss {} at step {}, usually {}", shown(spike.loss),
                                          spike.step, shown(spike.usual)));
    }
    if (spikes.size() > 3) {
      told.evidence.push_back(fmt::format("{} in all", plural(std::ssize(spikes), "spike")));
    }
    findings.push_back(told);
  }

  Window recent_{32};
  std::optional<Spike> open_;
  std::int64_t open_lines_ = 0, epoch_begin_ = 0;
  std::vector<Spike> spikes_;
  std::optional<double> epoch_, last_batch_;
  double rounds_ = 0, places_ = 0;
  bool fractions_ = false;
};

}  // namespace

std::unique_ptr<Detector> watch_spikes(const RunFacts& facts) {
  return std::make_unique<Spikes>(facts);
}

}  // namespace gradlab::training_log
