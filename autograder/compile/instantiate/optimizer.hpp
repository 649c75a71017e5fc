// What an optimizer's header leaves: copies of its options and of its state of a parameter.
#pragma once

#include <torch/optim/optimizer.h>

#include <memory>

#include "attributes.hpp"

namespace gradlab::detail {

template <typename Options, typename State>
void copy_directly(const Options& options, const State& state) {
  const std::unique_ptr<torch::optim::OptimizerOptions> first = std::make_unique<Options>(options);
  const std::unique_ptr<torch::optim::OptimizerParamState> second = std::make_unique<State>(state);
}

}  // namespace gradlab::detail
