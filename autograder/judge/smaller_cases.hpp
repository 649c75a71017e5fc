// Ways to make a case smaller, the boldest first.
#pragma once

#include <vector>

#include "protocol/case.hpp"

namespace gradlab {

// Each with fewer tensors, or fewer elements, or rounder numbers than `in`. Lists of the same
// length (parameters and their gradients) shrink together; tensors that were contiguous stay so,
// and others keep their strides. Empty when `in` is as plain as can be.
std::vector<Case> smaller_cases(const Case& in);

}  // namespace gradlab
