// What the memory allows: one read of all gradients, then one read and write, with nothing else to
// do.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace bench {

// Sums all elements, then multiplies them by `factor`, on LibTorch's threads. Returns the sum, so
// that it is not left out.
// REQUIRES: contiguous float32, all of about one size.
float bare_pass(const std::vector<at::Tensor>& gradients, float factor);

}  // namespace bench
