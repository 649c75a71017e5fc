// Whether what was typed is right, and if not, which mistake gives it.
#pragma once

#include <string>
#include <string_view>

#include "drills/question.hpp"

namespace gradlab::drills {

struct Checked {
  enum class Result { kRight, kWrong, kNoAnswer };
  Result result = Result::kNoAnswer;
  std::string mistake;  // of a wrong answer, where it is a known one; else ""
  std::string told;     // of no answer: what may be typed
};

// REQUIRES: the answer is not OwnWords, which nothing but a person can check.
Checked check(const Question& question, std::string_view typed);

// No near miss lies where the right answer or another near miss does: a drawn question that is not
// sharp is drawn again.
bool is_sharp(const Question& question);

}  // namespace gradlab::drills
