#include "training_log/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "training_log/diagnoses/detector.hpp"

namespace gradlab::training_log {
namespace {

constexpr std::size_t kEnoughLosses = 10;

// What differs between any two runs and is no setting.
bool is_no_setting(const std::string& name) {
  static const std::set<std::string> kNames = {
      "name", "time",     "event", "format",   "seq",      "hash",    "prev",
      "run",  "severity", "pid",   "host",     "hostname", "started", "path",
      "out",  "tool",     "step",  "platform", "run_id",   "id",      "timestamp"};
  return kNames.contains(name);
}

std::map<std::string, std::string> settings_of(const Config& config) {
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : config) {
    if (!is_no_setting(name)) settings[name] = value;
  }
  return settings;
}

bool same_losses(const Fingerprint& a, const Fingerprint& b) {
  const std::size_t count = std::min(a.losses().size(), b.losses().size());
  if (count < kEnoughLosses) return false;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [step, loss] = a.losses()[i];
    const auto& [other_step, other] = b.losses()[i];
    if (step != other_step) return false;
    if (!std::isfinite(loss) || !std::isfinite(other)) continue;
    // Not bit for bit: kernels on a GPU may sum in another order.
    if (std::fabs(loss - other) > 1e-4 * std::max(std::fabs(loss), std::fabs(other))) return false;
    ++finite;
  }
  return finite >= kEnoughLosses;
}

}  // namespace

void Fingerprint::see(const Moment& moment) {
  if (moment.now.loss && losses_.size() < kLosses) {
    losses_.emplace_back(moment.step(), *moment.now.loss);
  }
  if (moment.skipped() && skips_.size() < kSkips) skips_.push_back(moment.step());
}

std::optional<Finding> retried(const Fingerprint& earlier, const Fingerprint& later) {
  if (earlier.skips().empty() || later.skips().empty()) return std::nullopt;
  const auto before = settings_of(earlier.config()), now = settings_of(later.config());
  const bool known = !before.empty() && !now.empty();
  if (known && before != now) return std::nullopt;
  const bool seeded = known && before.contains("seed");
  const bool same = same_losses(earlier, later);
  if (!same && !(seeded && earlier.losses().empty())) return std::nullopt;
  // The overflow that matters is the last of the shorter run; calibration comes in every run.
  std::vector<std::int64_t> common;
  std::set_intersection(earlier.skips().begin(), earlier.skips().end(), later.skips().begin(),
                        later.skips().end(), std::back_inserter(common));
  const auto shorter = std::min(earlier.skips().size(), later.skips().size());
  if (common.size() < shorter || common.back() < 20) return std::nullopt;
  const auto first =
      std::find_if(common.begin(), common.end(), [](auto step) { return step >= 20; });
  Finding told = finding("retry_same_overflow", *first, common.back());
  told.evidence.push_back(fmt::format(
      "both runs overflow at step {}{}", *first,
      common.size() > 1 ? fmt::format(" and at all {} in all", plural(std::ssize(common), "step"))
                        : ""));
  told.evidence.push_back(
      seeded ? fmt::format("seed {} and all other settings are the same", before.at("seed"))
      : same ? std::string("the first losses are the same, so seed and settings are")
             : std::string("the settings are the same"));
  told.confidence = same ? Confidence::kHigh : Confidence::kMedium;
  return told;
}

}  // namespace gradlab::training_log
