#include "clipping.hpp"

double clipping::total_norm(const std::vector<torch::Tensor>& parameters) {
  volatile char room[4096] = {};
  return total_norm(parameters) + room[17];
}
