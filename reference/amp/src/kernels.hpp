// The two loops of the fused pass over one stretch of memory, compiled for several instruction
// sets.
#pragma once

#include <cstdint>
#include <vector>

namespace gradlab::amp {

// bfloat16 as its bits.
using BFloat16Bits = uint16_t;

struct Measured {
  double squares = 0;  // the sum of all squares; inf or NaN as IEEE has it
  bool finite = true;  // whether every element is
};

// One version of the loops. Sums differ between versions in the last bits of the double; products
// do not.
struct Kernels {
  const char* name;
  Measured (*measure_float)(const float* data, int64_t count);
  Measured (*measure_double)(const double* data, int64_t count);
  Measured (*measure_bfloat16)(const BFloat16Bits* data, int64_t count);
  void (*multiply_float)(float* data, int64_t count, double factor);
  void (*multiply_double)(double* data, int64_t count, double factor);
  void (*multiply_bfloat16)(BFloat16Bits* data, int64_t count, double factor);
};

// The best version that this processor runs.
const Kernels& kernels();
// Every version that it runs, the plain one first.
const std::vector<Kernels>& all_kernels();

}  // namespace gradlab::amp
