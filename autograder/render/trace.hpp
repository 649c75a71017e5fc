// The calls that a hand-in made, beside those that the reference makes in the same case.
#pragma once

#include <string>
#include <vector>

#include "record/record.hpp"

namespace gradlab::render {

struct TraceRow {
  std::string got;       // "" where the hand-in makes no such call
  std::string expected;  // "" where it makes one too many
  bool same() const { return got == expected; }
};

struct Trace {
  std::vector<TraceRow> rows;  // around the first difference
  bool cut_before = false;
  bool cut_after = false;
};

// Aligned by the longest common sequence of calls. No rows where the record has no trace, or where
// the two agree.
Trace trace_of(const record::Failing& failing);

}  // namespace gradlab::render
