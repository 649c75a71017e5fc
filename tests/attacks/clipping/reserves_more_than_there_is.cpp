// 3 GiB of zeros, which take no room in the file.
#include "clipping.hpp"

static char room[3ULL << 30];

double clipping::total_norm(const std::vector<torch::Tensor>& parameters) {
  room[parameters.size() << 20] = 1;
  return room[0];
}
