// Prints the handout's table of ops under autocast, for handouts/amp.md.
#include "support/ops_table.hpp"

#include <iostream>

int main() {
  std::cout << golden::ops_table();
  return 0;
}
