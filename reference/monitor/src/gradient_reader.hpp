// The norm of each parameter's gradient, in one read of all of them, and whether every element is
// finite. Sums are in double, and scaled where even that overflows or vanishes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "parameter_table.hpp"

namespace gradlab::monitor {

struct Reading {
  bool present = false;  // a gradient is there
  bool finite = true;
  double norm = 0;  // inf or NaN where an element is
};

class GradientReader {
 public:
  // One reading for each parameter of the table, in its order; valid until the next call.
  const std::vector<Reading>& read(const std::vector<TableParameter>& parameters);

 private:
  struct Stretch {
    const void* data;
    int64_t count;
    size_t parameter;
    c10::ScalarType type;
  };
  void add(const at::Tensor& gradient, size_t parameter);
  void measure_stretches();

  std::vector<Reading> readings_;
  std::vector<Stretch> stretches_;
  std::vector<double> squares_;
};

// The values of a gradient as one dense real tensor: of a sparse one the coalesced values, of a
// complex one its parts, of half types float32.
at::Tensor real_values(const at::Tensor& gradient);

// How many elements are inf or NaN.
int64_t nonfinite_elements(const at::Tensor& gradient);

// As PyTorch computes it, in the gradient's own type (half types in float32): overflows and
// vanishes.
double float32_norm(const at::Tensor& gradient);

}  // namespace gradlab::monitor
