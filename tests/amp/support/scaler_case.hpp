// PyTorch's _run_scaling_case in C++: two equal models, one trained with a scaler and one without.
#pragma once

#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "gradlab/amp/grad_scaler.hpp"

namespace amp_test {

// Two 8 x 8 layers and an optimizer over them.
struct Model {
  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::Optimizer> optimizer;

  torch::Tensor loss(const torch::Tensor& x, const torch::Tensor& y);
  std::vector<torch::Tensor> parameters() const { return net->parameters(); }
};

enum class Kind { kSgd, kAdamW };

// Equal weights for equal seeds.
Model model(Kind kind, double lr, uint64_t seed = 7);

// Four batches of 8 x 8 inputs and targets.
std::vector<std::pair<torch::Tensor, torch::Tensor>> batches();

constexpr size_t kBadBatch = 2;  // its gradients are made inf

// Trains `model` over the batches, stepping through `scaler`, a disabled one for the control run.
// `iteration` does everything between zero_grad and step; `bad` says that this batch's gradients
// are to be spoilt after backward.
using Iteration = std::function<void(Model&, gradlab::amp::GradScaler&, const torch::Tensor& x,
                                     const torch::Tensor& y, bool bad)>;

struct CaseOptions {
  Kind kind = Kind::kSgd;
  double lr = 1.0;
  int unskipped = 3;
  int skipped = 1;
  double tolerance = 1e-5;
};

// Runs both, and compares: the scale is 128 * 2^unskipped * 0.5^skipped, and parameters, gradients
// and optimizer state are the control's.
void run_scaling_case(const CaseOptions& options, const Iteration& iteration);

// Puts inf into one gradient.
void spoil(Model& model);

}  // namespace amp_test
