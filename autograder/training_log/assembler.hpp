// One record a step out of what readers found: lines of several ranks become one, overflow messages
// without a number find their step, running totals become counts, steps that go back start a new
// part. What looked odd is counted, for the notes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "training_log/step.hpp"

namespace gradlab::training_log {

enum class Break { kNone, kResumed, kNewRun };

// Who hears of the assembled run.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;
  // `before` tells what happened between the step before and this one.
  virtual void step(const Step& step, Break before) = 0;
  virtual void event(const Event& event) = 0;  // with a step, the one after it where it had none
};

struct Oddities {
  std::uint64_t merged = 0;       // lines that told of a step once more
  std::uint64_t conflicting = 0;  // ... with another loss or norm
  std::int64_t first_conflict = 0;
  std::uint64_t late = 0;                   // the same record again, later
  std::uint64_t went_back = 0;              // steps that are smaller than the one before
  std::int64_t back_from = 0, back_to = 0;  // the first of them
  std::uint64_t clock_back = 0;
  std::uint64_t unnumbered = 0;  // lines without a step's number
};

class Assembler : public Sink {
 public:
  explicit Assembler(Listener& listener) : listener_(listener) {}
  void step(Step step) override;
  void event(Event event) override;
  void finish();  // no more will come
  const Oddities& oddities() const { return oddities_; }

 private:
  enum class Total { kUnknown, kFlag, kRunning };

  void place(Step& step);
  bool merge(const Step& step);
  bool is_late(const Step& step) const;
  void take_total(Step& step);
  void take_pending(Step& step);
  Break break_before(const Step& step);
  void flush();
  void flush_pending();
  void skipped_event(const Event& event);

  Listener& listener_;
  std::optional<Step> held_;
  Break held_break_ = Break::kNone;
  std::vector<Event> pending_;  // overflows that wait for a numbered line
  std::vector<Event> behind_;   // events of the held step
  Break next_break_ = Break::kNone;
  bool any_ = false;
  std::int64_t first_step_ = 0, last_step_ = -1;
  std::optional<double> last_time_;
  std::optional<std::int64_t> last_total_;
  Total total_ = Total::kUnknown;
  std::string rank_;                                          // whose overflow lines count
  std::array<std::pair<std::int64_t, double>, 16> recent_{};  // steps and losses
  std::size_t recent_count_ = 0;
  Oddities oddities_;
};

}  // namespace gradlab::training_log
