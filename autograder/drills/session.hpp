// A round of questions: asks, reads, tells, and notes what came of it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drills/progress.hpp"
#include "drills/templates.hpp"
#include "render/terminal.hpp"

namespace gradlab::drills {

// Where a round takes place. A line comes without its end; nothing at the end of the input.
struct Talk {
  std::function<std::optional<std::string>()> read;
  std::function<void(const std::string&)> say;  // ends in a new line where one is meant
  int width = 80;
  bool colour = false;
  bool echo = false;  // the input is a pipe, which shows nothing of what was typed
};

struct Round {
  std::vector<Question> questions;
  bool exam = false;
};

struct Tally {
  int asked = 0;
  int right = 0;
  int skipped = 0;
  bool left = false;  // by q, or the input ended
  struct Topic {
    int of = 0;
    int right = 0;
  };
  std::map<std::string, Topic> topics;
  std::vector<std::string> mistakes;  // "clipping.factor: turns the fraction round; the …"
};

// `graded` is called after each answer (never for a skip), with the mistake where it is a known
// one, so that what was done is kept whatever comes next.
using Graded = std::function<void(const Question&, int grade, const std::string& mistake)>;

Tally ask(const Round& round, const Talk& talk, const Graded& graded);

}  // namespace gradlab::drills
