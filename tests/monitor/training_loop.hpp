// The loops that reference/monitor/README.md shows, compiled and run.
#pragma once

#include <torch/nn/modules/container/sequential.h>
#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "gradlab/monitor/monitor.hpp"

namespace shown {

using Batches = std::vector<std::pair<torch::Tensor, torch::Tensor>>;

// float16 with a scaler; the record goes to `path`.
gradlab::monitor::Counts train(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                               const Batches& batches, const std::string& path);
// bfloat16 or float32; the events are what is returned.
std::vector<std::string> train_plain(torch::nn::Sequential& model,
                                     torch::optim::Optimizer& optimizer, const Batches& batches);
// A state saved to a file and loaded by another monitor; the steps that this one knows of.
int64_t resume(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
               const std::string& folder);

}  // namespace shown
