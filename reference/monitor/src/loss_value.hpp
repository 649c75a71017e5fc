// A loss as it is handed in, as one number.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace gradlab::monitor {

struct LossValue {
  std::optional<double> value;
  int64_t elements = 1;     // more than one: value is their mean
  bool is_complex = false;  // and therefore left out
  bool was_scaled = false;  // and therefore divided
};

// None for an undefined or empty tensor. Integers count as numbers. A host sync on a GPU.
LossValue loss_value(const at::Tensor& loss);

}  // namespace gradlab::monitor
