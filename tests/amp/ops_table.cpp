// Prints the table of ops under autocast: for handouts/amp.md, or with the word "drills" for
// autograder/drills/op_dtypes.inc.
#include "support/ops_table.hpp"

#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  const bool drills = argc > 1 && std::string_view(argv[1]) == "drills";
  std::cout << (drills ? golden::drill_dtypes() : golden::ops_table());
  return 0;
}
