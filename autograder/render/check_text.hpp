// One record for its student, on a terminal: verdict, the first failing place of each task, what to
// do next.
#pragma once

#include <string>

#include "record/record.hpp"

namespace gradlab::render {

struct CheckOptions {
  bool colour = false;
  int width = 80;    // at least 60 is used
  bool tips = true;  // the last line: where to go on
  std::string file;  // the student's own file as it is to be shown; "" shows what the record has
  int line = 0;      // where the next task begins in it; 0: not known
};

// Ends in a new line. Verdicts come first; a diagnosis that the record has by now stands with its
// check.
std::string render_check(const Record& record, const CheckOptions& options);

// What follows on a terminal where render_check() stands already, without tips and from before the
// diagnosis: the misconceptions, then the tip. "" when there is nothing to say.
std::string render_diagnoses(const Record& record, const CheckOptions& options);

// The first task that is not passed, 0 when all are: what `options.line` is about.
int next_task(const Record& record);

}  // namespace gradlab::render
