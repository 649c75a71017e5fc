#include <torch/optim/adamw.h>

#include "optimizer.hpp"

namespace gradlab::detail {
inline void instantiate(const torch::optim::AdamWOptions& options,
                        const torch::optim::AdamWParamState& state) {
  copy_directly(options, state);
}
}  // namespace gradlab::detail
