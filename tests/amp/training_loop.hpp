// The loops that handouts/amp.md and handouts/frameworks.md show, compiled and run by
// handout_test.cpp.
#pragma once

#include <torch/nn/modules/container/sequential.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/schedulers/lr_scheduler.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handout {

using Batches = std::vector<std::pair<torch::Tensor, torch::Tensor>>;

struct Trained {
  std::vector<double> losses;  // one a step, unscaled
  int64_t skipped = 0;
};

Trained train(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
              const Batches& batches);
void train_on_schedule(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                       torch::optim::LRScheduler& schedule, const Batches& batches);
int64_t train_in_halves(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                        const Batches& batches);
void train_two(torch::nn::Sequential& first, torch::optim::Optimizer& first_optimizer,
               torch::nn::Sequential& second, torch::optim::Optimizer& second_optimizer,
               const Batches& batches);
std::string save_and_load(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                          const std::string& folder);
std::vector<std::string> watched(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                                 const Batches& batches);

}  // namespace handout
