// What doctor finds out about a lab: a proof is one of its promises, held or not.
#pragma once

#include <string>
#include <vector>

namespace gradlab::doctor {

struct Problem {
  std::string what;           // one sentence: which bug, check, file, seed
  std::string mend;           // what to do, or the command that shows it; may be empty
  bool grader_fault = false;  // the grader itself broke, so nothing is proved or disproved
};

struct Proof {
  std::string said;  // its words in the lab's lines: "reference passes"
  std::vector<Problem> problems;
  std::vector<std::string> notes;  // no fault, but worth a look
};

}  // namespace gradlab::doctor
