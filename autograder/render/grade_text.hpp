// A class on a terminal: how far the batch is, the table at its end, what to look at before
// publishing.
#pragma once

#include <string>
#include <vector>

#include "record/record.hpp"

namespace gradlab::render {

struct GradeOptions {
  bool colour = false;
  int width = 80;
};

struct Progress {
  int done = 0;  // of this run; what an earlier run graded counts in `total` alone
  int total = 0;
  int earlier = 0;                              // graded by an earlier run
  double seconds = 0;                           // since this run began
  std::vector<std::pair<Verdict, int>> counts;  // by verdict of hand-ins
};

// "[######......]  20 of 31   82 a minute   8 s left   17 graded  2 time limit", without a new
// line. A terminal gets the bar, others a plain line.
std::string render_progress(const Progress& progress, bool bar, int width = 80);

// One row a student, heading included.
std::string render_grade_table(const std::vector<Record>& records, const GradeOptions& options);

// The lines below the table: counts, the commonest misconceptions, what to look at before
// publishing.
std::string render_grade_summary(const std::vector<Record>& records, double seconds,
                                 const GradeOptions& options);

}  // namespace gradlab::render
