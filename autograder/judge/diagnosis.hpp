// Names the known mistake that a failed check's observations look like. It only explains: no
// verdict depends on it. No match means no word, rather than a guess.
#pragma once

#include <string>
#include <vector>

#include "judge/context.hpp"
#include "judge/implementations.hpp"

namespace gradlab {

// A check that passed, or one that failed, with what it asked and what came.
struct Judged {
  std::string check;
  int task = 0;
  bool passed = false;
  std::vector<Asked> asked;
};

struct Diagnosis {
  std::string check;
  std::vector<const KnownBug*> bugs;  // that reproduce all that the check saw; the likeliest first
};

// If one bug fails just the checks that failed, and reproduces every observation of all of them, it
// is named for each. Else task by task: a bug explains a failed check that is to catch it if it
// reproduces every observation of it, and if no check of the same task passed that is to catch it
// as well; where several do, those stay that contradict the least in the other tasks. Gives up
// after so many runs of a bug, and then says nothing of the task that it was at: half a list of
// equals would mislead. Runs and not seconds, so that a busy machine names the same.
std::vector<Diagnosis> diagnose(const std::vector<Judged>& judged, int runs);

}  // namespace gradlab
