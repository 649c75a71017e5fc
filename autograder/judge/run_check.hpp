// Runs one check through GoogleTest and gathers its outcome in the context.
#pragma once

#include <string>
#include <vector>

#include "judge/context.hpp"

namespace gradlab {

// Once a process, before the first run_check: takes gtest's own printing away.
void prepare_gtest();

struct KnownCheck {
  std::string name;  // as in lab.toml
  int task = 0;
};

// All checks that this program holds, in the order of their definition.
std::vector<KnownCheck> known_checks();

struct CheckOutcome {
  std::string verdict;  // a word of the record
  std::string message;
  double seconds = 0;
};

// `check` as in lab.toml, `task` its number. Leaves details in the context.
CheckOutcome run_check(CheckContext& in, const std::string& check, int task);

}  // namespace gradlab
