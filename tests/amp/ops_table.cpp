// Prints the handout's table of ops under autocast, for handouts/amp.md.
#include <iostream>

#include "support/ops_table.hpp"

int main() {
  std::cout << golden::ops_table();
  return 0;
}
