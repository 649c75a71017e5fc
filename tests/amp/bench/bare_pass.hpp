// What the memory allows: one read of everything, then one read and write, with nothing else to do.
#pragma once

#include <ATen/core/Tensor.h>

namespace bench {

// Sums all elements of a contiguous float32 tensor, then multiplies them by `factor`, on LibTorch's
// threads. Returns the sum, so that it is not left out.
float bare_pass(const at::Tensor& tensor, float factor);

}  // namespace bench
