// The model, batches and optimizer of a case, with what they notice while the implementation uses
// them: in which state the model ran, and in which state backward came through its output.
#pragma once

#include <torch/optim/sgd.h>

#include <memory>
#include <string>

#include "autocast.hpp"
#include "protocol/case.hpp"
#include "protocol/observation.hpp"

namespace gradlab::autocast_lab {

// Shared with the model, which an implementation may keep for longer than the case lives.
struct Noticed {
  std::string forward = "never run";
  std::string backward = "never run";
  torch::Tensor output_gradient;  // of the last backward, as it came in
};

// Every state once, in the order in which they were met.
void note(std::string& noticed, const std::string& state);

// Case: "weights" and "bias vectors" for each layer (without such a list no layer has a bias), "x"
// and "y" for each batch; words "dtype" and "caller", and where the case has them "model" ("as
// nn::Linear"), "throws" and "parameter groups". Between layers is a tanh, which has no kink: a
// rounding never decides whether a gradient passes.
class Given {
 public:
  explicit Given(const Case& in);

  ::autocast::Model model;
  std::vector<::autocast::Batch> batches;
  torch::ScalarType dtype;
  std::shared_ptr<Noticed> noticed = std::make_shared<Noticed>();

  const ::autocast::Batch& batch() const { return batches.front(); }
  // With the case's weight decay, if it has one; its parameters in one group, or the first in one
  // and the rest in a second.
  torch::optim::SGD sgd(const Case& in) const;
  std::vector<torch::Tensor> gradients() const { return gradients_of(model.parameters); }
};

std::string dtype_of(const torch::Tensor& tensor);  // "float16", or "none"

// loss.backward(), from outside every region. The word "backward" says how it went.
void run_backward(Observation& seen, const torch::Tensor& loss);

}  // namespace gradlab::autocast_lab
