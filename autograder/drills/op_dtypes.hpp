// What ops give under autocast, from op_dtypes.inc: a generated file, which a test generates again
// and compares (amp.handout_test). To write it anew:
//   build/dev/bin/amp_ops_table drills > autograder/drills/op_dtypes.inc
#pragma once

#include <string>
#include <vector>

namespace gradlab::drills {

// In a float16 region. "float16", "float32", "error", another dtype, or "" where it does not apply.
struct OpDtypes {
  std::string name;
  std::string cpu_from_float32, cpu_from_float16, cpu_from_both;
  std::string cuda_from_float32, cuda_from_float16, cuda_from_both;
};

const std::vector<OpDtypes>& op_dtypes();

}  // namespace gradlab::drills
