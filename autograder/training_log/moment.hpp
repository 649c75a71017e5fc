// A step with its neighbours and what follows from them. Detectors see moments, one after another.
#pragma once

#include <optional>

#include "training_log/assembler.hpp"
#include "training_log/step.hpp"

namespace gradlab::training_log {

struct Moment {
  const Step& now;
  const Step* before;  // of the same run, or none
  const Step* after;
  Break breaks = Break::kNone;  // between before and now
  std::int64_t skips = 0;    // steps that the optimizer did not take, of those this line stands for
  bool skips_known = false;  // the log says so, or lets it be told
  bool skips_told = false;   // the log itself says so

  std::int64_t step() const { return *now.step; }
  bool skipped() const { return skips > 0; }
  bool follows() const;      // the very next step of `before`, no break between
  bool is_followed() const;  // the same of `after`
  bool loss_is_finite() const;
  bool norm_is_finite() const;
};

// Keeps a step back until its successor is known.
class Timeline {
 public:
  class Watcher {
   public:
    Watcher() = default;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    virtual ~Watcher() = default;
    virtual void see(const Moment& moment) = 0;
  };
  explicit Timeline(Watcher& watcher) : watcher_(watcher) {}
  void add(const Step& step, Break before);
  void finish();

 private:
  void emit(const Step* after);

  Watcher& watcher_;
  std::optional<Step> before_, now_;
  Break breaks_ = Break::kNone;
};

}  // namespace gradlab::training_log
