#include <torch/optim/adam.h>

#include "optimizer.hpp"

namespace gradlab::detail {
inline void instantiate(const torch::optim::AdamOptions& options,
                        const torch::optim::AdamParamState& state) {
  copy_directly(options, state);
}
}  // namespace gradlab::detail
