// Two runs side by side: was the second a retry with nothing changed?
#pragma once

#include <optional>
#include <vector>

#include "training_log/finding.hpp"
#include "training_log/moment.hpp"

namespace gradlab::training_log {

// What is kept of a run to know it again: its settings, the first losses, and where it overflowed.
class Fingerprint {
 public:
  static constexpr std::size_t kLosses = 256, kSkips = 256;
  void see(const Moment& moment);
  void set(const Config& config) { config_ = config; }
  const Config& config() const { return config_; }
  const std::vector<std::pair<std::int64_t, double>>& losses() const { return losses_; }
  const std::vector<std::int64_t>& skips() const { return skips_; }

 private:
  Config config_;
  std::vector<std::pair<std::int64_t, double>> losses_;
  std::vector<std::int64_t> skips_;  // steps whose gradients overflowed
};

// retry_same_overflow, where both runs had the same settings and overflowed at the same steps.
// Settings count where a log holds them; else equal first losses show the same seed.
std::optional<Finding> retried(const Fingerprint& earlier, const Fingerprint& later);

}  // namespace gradlab::training_log
