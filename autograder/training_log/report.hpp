// A log as it was read: what kind it is, its runs with their series, story and findings, and what
// was odd about the file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "training_log/compare.hpp"
#include "training_log/diagnoses/detector.hpp"
#include "training_log/readers/readers.hpp"
#include "training_log/series.hpp"
#include "training_log/story.hpp"

namespace gradlab::training_log {

struct Run {
  Config config;
  std::int64_t first = 0, last = 0;  // steps
  std::int64_t lines = 0, skips = 0, nonfinite_losses = 0;
  Series loss, norm, scale, skip;
  Story story;
  std::vector<Finding> findings;  // ranked
  Fingerprint print;
  bool has_skips = false;  // the log tells skips, or lets them be told
};

struct Report {
  std::string path;
  std::vector<Format> formats;  // most lines first
  std::uint64_t lines = 0, not_understood = 0, bytes = 0;
  std::vector<std::string> garbage;        // the first few lines that were not understood
  std::vector<std::string> notes;          // what was odd, for people
  std::vector<std::unique_ptr<Run>> runs;  // the first kMostRuns
  std::size_t more_runs = 0;
  static constexpr std::size_t kMostRuns = 16;

  const Run* longest() const;        // nullptr where there is no step
  std::vector<Finding> all() const;  // of all runs, ranked
};

}  // namespace gradlab::training_log
