// Global arrays of 1.7 GiB: the file is small, and the loader finds no room for it.
#include "clipping.hpp"

static double room[1700ULL * 1024 * 1024 / sizeof(double)];

double clipping::total_norm(const std::vector<torch::Tensor>& parameters) {
  room[parameters.size() << 20] = 1;
  return room[0];
}
