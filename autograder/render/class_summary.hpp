// What a class's records say together. Every rendering of a class takes its counts from here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/record.hpp"

namespace gradlab::render {

struct FailedCheck {
  std::string title;
  int task = 0;
  int failed = 0;
  int not_started = 0;
};

struct Misconception {
  std::string bug;
  std::string name;  // the bug's name with blanks
  std::string belief;
  std::string hint;
  std::vector<std::string> students;  // each once
};

// One doubt, and all who share it.
struct ToLookAt {
  std::string what;  // "clipping.1 half and bfloat16: pass, within 10x of its tolerance"
  std::vector<std::string> students;
};

struct ClassSummary {
  int graded = 0;
  int full_marks = 0;
  int max_score = 0;
  std::optional<double> median;  // of those with a score
  std::optional<double> mean;
  std::map<Verdict, int> verdicts;            // of hand-ins
  std::vector<int> scores;                    // hand-ins by score, 0 … max_score
  std::vector<FailedCheck> failed;            // most failed first; only those that failed
  std::vector<Misconception> misconceptions;  // most met first
  std::vector<ToLookAt> to_look_at;           // near a tolerance, or without a score

  int count(Verdict verdict) const;
};

ClassSummary summarise(const std::vector<Record>& records);

// At most two decimals: "15.5", "16", never 15.500000000000002.
std::string number_text(double value);
// "12 full marks, median 15.5, 3 not started, 1 does not compile, 2 hang, 0 grader errors"
std::string summary_line(const ClassSummary& summary);

}  // namespace gradlab::render
