// Many hand-ins on all cores: each graded by itself, each record written as soon as it is there.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/batch_folder.hpp"
#include "pipeline/pipeline.hpp"

namespace gradlab::pipeline {

struct BatchRun {
  const Manifest& lab;
  const Setup& setup;
  const std::vector<intake::HandIn>& hand_ins;
  const BatchFolder& folder;
  int jobs = 1;
  // Called after each hand-in, one at a time, from any thread. `graded` is false for one whose
  // earlier record still holds.
  std::function<void(const Record&, bool graded)> on_record;
};

struct BatchResult {
  std::vector<Record> records;  // of all hand-ins that have one, in the order of hand_ins
  std::string stopped;          // why it stopped early: Ctrl-C, or a record that cannot be written
};

// Never throws for one hand-in's sake: what the grader gets wrong is that record's grader_error.
BatchResult run_batch(const BatchRun& run);

// Scores with several seeds, a hand-in each; the same order as hand_ins.
std::vector<Audit> audit_batch(const BatchRun& run, const std::vector<std::string>& seeds,
                               const std::function<void(const std::string& student)>& on_done);

}  // namespace gradlab::pipeline
