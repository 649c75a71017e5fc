// Right code, and the known mistakes that can be made in a line of it: the bug bank as it is read.
#pragma once

#include <string>
#include <vector>

namespace gradlab::drills {

struct Mutation {
  std::string bug;      // its name in the bug bank, reference/<topic>/bugs
  std::string line;     // the line it changes, without its indent
  std::string instead;  // what stands there then; "" where the line is moved
  std::string before;   // the line that a moved one comes to stand before
  std::string effect;   // what happens
  std::string fine;     // why the line is right as it was
  int occurrence = 0;   // of `line`, where it stands there more than once
};

struct Loop {
  std::string name;
  std::string topic;
  std::string about;  // "A step of mixed precision."
  std::vector<std::string> lines;
  std::vector<Mutation> mutations;
};

struct Mutated {
  std::vector<std::string> lines;
  std::vector<int> wrong;  // the lines, from 0, that may be named; the first is the changed one
};

// Throws std::logic_error where the loop has no such line.
Mutated mutated(const Loop& loop, const Mutation& mutation);
// Where a line of the loop stands in the mutated one; -1 where it is not there as it was.
int place_of(const Mutated& in, const std::string& line, int occurrence);

std::vector<Loop> step_loops();
std::vector<Loop> lab_loops();
std::vector<Loop> record_loops();

}  // namespace gradlab::drills
