// Ops under autocast: the calls of golden/autocast/ops.json, and what a run of one gives.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "support/golden.hpp"

namespace golden {

struct Op {
  std::string name;  // in ops.json
  std::string aten;  // in LibTorch's autocast lists
  at::Tensor (*run)(const std::vector<at::Tensor>& inputs);
};

const std::vector<Op>& ops();
const Op& op(const std::string& name);

// The output's dtype of one call with the inputs of `spec` in the dtypes of `variant` ("f32",
// "low", "low_then_f32", ...), where `low` is the region's dtype; "error" or "error_prioritize"
// where it throws.
std::string outcome(const Op& op, const Json& spec, const std::string& variant, at::ScalarType low);

}  // namespace golden
