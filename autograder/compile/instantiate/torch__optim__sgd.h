#include <torch/optim/sgd.h>

#include "optimizer.hpp"

namespace gradlab::detail {
inline void instantiate(const torch::optim::SGDOptions& options,
                        const torch::optim::SGDParamState& state) {
  copy_directly(options, state);
}
}  // namespace gradlab::detail
