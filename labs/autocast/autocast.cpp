// CPU autocast by LibTorch's own functions: your answers. The contract is autocast.hpp, the story
// is handouts/autocast.md. Replace each todo() by your code; write helpers wherever you like.
#include "autocast.hpp"

#include <ATen/autocast_mode.h>

namespace autocast {

// Task 1: forward and loss in a region of this dtype; the state is left as it was found.
Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  return gradlab::todo("autocast.1", model, batch, dtype);
}

// Task 2: one training step, its backward outside the region; return the loss.
double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  return gradlab::todo("autocast.2", model, batch, dtype, optimizer);
}

// Task 3: a step for each batch, each with the weights that the one before it left.
std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  return gradlab::todo("autocast.3", model, batches, dtype, optimizer);
}

// Task 4: op in float32, whatever region we are in.
torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  return gradlab::todo("autocast.4", op, input);
}

// Task 5: as task 2, with the loss scaled where the dtype needs it.
double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  return gradlab::todo("autocast.5", model, batch, dtype, optimizer, scale);
}

}  // namespace autocast
