// What a diagnosis is made of: a detector sees the moments of one run in order, in memory that does
// not grow with the run, and tells at the end what it found. It says nothing where another reading
// of the log is as good: one told wrong is worse than one not told.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "training_log/finding.hpp"
#include "training_log/moment.hpp"

namespace gradlab::training_log {

// What holds for the whole run: its settings, and how its log is to be read.
struct RunFacts {
  Config config;
  std::optional<double> max_norm;  // asked for on the command line
  bool scale_is_after = false;     // the format's lines hold the scale after update()

  std::string text(std::initializer_list<const char*> names) const;  // "" where there is none
  std::optional<double> number(std::initializer_list<const char*> names) const;
};

class Detector {
 public:
  explicit Detector(const RunFacts& facts) : facts_(facts) {}
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;
  virtual ~Detector() = default;
  virtual void see(const Moment& moment) = 0;
  virtual void hear(const Event& /*event*/) {}
  virtual void finish(std::vector<Finding>& findings) = 0;

 protected:
  const RunFacts& facts() const { return facts_; }

 private:
  const RunFacts& facts_;
};

// The last values of a series, at most `size` of them.
class Window {
 public:
  explicit Window(std::size_t size) : size_(size) {}
  void add(double value);
  void clear() { values_.clear(); }
  std::size_t count() const { return values_.size(); }
  bool is_full() const { return values_.size() == size_; }
  double median() const;  // REQUIRES: count() > 0
  double spread() const;  // 1.4826 times the median deviation: sigma of a normal series
  double least() const;
  double most() const;

 private:
  std::size_t size_;
  std::deque<double> values_;
};

double median_of(std::vector<double> values);  // REQUIRES: not empty

// "412", "412-415"
std::string steps_text(std::int64_t first, std::int64_t last);
// "1 step", "3 steps"
std::string plural(std::int64_t count, const std::string& one);

// Each makes one detector; together they tell all of the catalogue but retry_same_overflow, which
// needs two runs (see compare.hpp).
using Maker = std::unique_ptr<Detector> (*)(const RunFacts& facts);
std::unique_ptr<Detector> watch_overflows(const RunFacts& facts);
std::unique_ptr<Detector> watch_pinned_scale(const RunFacts& facts);
std::unique_ptr<Detector> watch_clipping(const RunFacts& facts);
std::unique_ptr<Detector> watch_scaled_values(const RunFacts& facts);
std::unique_ptr<Detector> watch_logged_scale(const RunFacts& facts);
std::unique_ptr<Detector> watch_skip_reports(const RunFacts& facts);
std::unique_ptr<Detector> watch_nonfinite(const RunFacts& facts);
std::unique_ptr<Detector> watch_divergence(const RunFacts& facts);
std::unique_ptr<Detector> watch_spikes(const RunFacts& facts);
std::unique_ptr<Detector> watch_schedule(const RunFacts& facts);
std::unique_ptr<Detector> watch_last_windows(const RunFacts& facts);
std::unique_ptr<Detector> watch_resumes(const RunFacts& facts);
std::unique_ptr<Detector> watch_zero_norms(const RunFacts& facts);

std::vector<std::unique_ptr<Detector>> all_detectors(const RunFacts& facts);

}  // namespace gradlab::training_log
