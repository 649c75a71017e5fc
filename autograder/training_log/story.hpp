// What happened, in order: skips with what became of the scale, growth, values that are not finite,
// resumes, and what the trainer itself reported.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "training_log/moment.hpp"

namespace gradlab::training_log {

struct Entry {
  std::int64_t step = 0;
  std::string text;
  std::int64_t order = 0;  // of when it began; what lasts is told when it is over
};

class Story {
 public:
  static constexpr std::size_t kKept = 40;  // entries at each end; what is between is counted

  void see(const Moment& moment);
  void hear(const Event& event);
  void add(std::int64_t step, std::string text);
  void finish();  // puts the entries in order

  const std::vector<Entry>& first() const { return first_; }
  const std::deque<Entry>& last() const { return last_; }
  std::int64_t left_out() const { return left_out_; }

 private:
  struct Skips {
    std::int64_t first = 0, last = 0, count = 0, bad_losses = 0;
    std::optional<double> scale, scale_after;
    std::string layers;  // of its first step
    std::int64_t order = 0;
  };
  struct Recovery {
    std::int64_t first = 0, last = 0;
  };

  void skipped(const Moment& moment);
  void went_on(const Moment& moment);
  void growth(const Moment& moment);
  void nonfinite(const Moment& moment);
  void end_skips(const Recovery* recovery);
  void add(Entry entry);

  Skips skips_;
  Recovery recovery_;
  std::int64_t good_ = 0;  // steps since the last skip, change of scale, or begin
  bool bad_loss_ = false;
  std::int64_t bad_from_ = 0, bad_count_ = 0, bad_order_ = 0, order_ = 0;
  double bad_value_ = 0;
  std::vector<Entry> first_;
  std::deque<Entry> last_;
  std::int64_t left_out_ = 0;
};

}  // namespace gradlab::training_log
