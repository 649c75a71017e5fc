// Questions about the skipped steps of somebody's own log, answered from the log itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "drills/question.hpp"
#include "training_log/step.hpp"

namespace gradlab::drills {

// Skipped steps in a row, with what the log holds around them.
struct SkipRow {
  std::int64_t first = 0, last = 0;
  std::optional<double> loss;         // of the first
  std::optional<double> before;       // the scale that the first one used
  std::optional<double> after;        // the scale after the last one
  std::optional<std::int64_t> taken;  // the next step that was taken
};

std::vector<SkipRow> rows_of_skips(const std::vector<training_log::Step>& steps);

// What happened, what became of the batches, and of the scale where the log holds it. All are named
// "skip FIRST". `seed` shuffles the choices.
std::vector<Question> questions_of(const SkipRow& row, std::uint64_t seed);

}  // namespace gradlab::drills
