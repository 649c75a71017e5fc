#include "drills/op_dtypes.hpp"

namespace gradlab::drills {

const std::vector<OpDtypes>& op_dtypes() {
  static const std::vector<OpDtypes> all = {
#include "drills/op_dtypes.inc"
  };
  return all;
}

}  // namespace gradlab::drills
