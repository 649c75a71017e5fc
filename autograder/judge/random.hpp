// The judge's own random numbers: the same for a seed on every machine and in every release.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace gradlab {

class Random {
 public:
  // The stream of one check: independent of all others, whatever checks come or go.
  Random(std::string_view seed, std::string_view check);

  uint64_t bits();                             // xoshiro256**
  double uniform(double low, double high);     // [low, high)
  double normal();                             // mean 0, deviation 1
  int64_t integer(int64_t low, int64_t high);  // both ends included
  bool chance(double probability) { return uniform(0, 1) < probability; }
  template <typename T>
  const T& pick(const std::vector<T>& of) {
    return of[static_cast<size_t>(integer(0, static_cast<int64_t>(of.size()) - 1))];
  }

  // Elements drawn from [-1, 1), away from zero: no element so small that a mistake hides in it.
  torch::Tensor tensor(torch::IntArrayRef shape, torch::ScalarType dtype);

 private:
  uint64_t state_[4];
};

}  // namespace gradlab
