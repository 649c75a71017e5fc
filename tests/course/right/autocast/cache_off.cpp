// No copies at all: with the cache off there is nothing to clear.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

using namespace at::autocast;

namespace {

class WithoutCopies {
 public:
  explicit WithoutCopies(bool enabled, at::ScalarType dtype = at::kBFloat16) {
    set_autocast_enabled(at::kCPU, enabled);
    set_autocast_dtype(at::kCPU, dtype);
    set_autocast_cache_enabled(false);
  }
  ~WithoutCopies() {
    set_autocast_cache_enabled(old_cache);
    set_autocast_dtype(at::kCPU, old_dtype);
    set_autocast_enabled(at::kCPU, old_enabled);
  }

 private:
  const bool old_enabled = is_autocast_enabled(at::kCPU);
  const at::ScalarType old_dtype = get_autocast_dtype(at::kCPU);
  const bool old_cache = is_autocast_cache_enabled();
};

}  // namespace

namespace autocast {

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  WithoutCopies region(true, dtype);
  Pass pass;
  pass.output = model.forward(batch.x);
  pass.loss = at::mse_loss(pass.output, batch.y);
  return pass;
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  return scaled_training_step(model, batch, dtype, optimizer, 1.0);
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses(batches.size());
  for (size_t i = 0; i < batches.size(); i++) {
    losses[i] = training_step(model, batches[i], dtype, optimizer);
  }
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  WithoutCopies island(false);
  return op(input.toType(torch::kFloat32));
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  if (dtype == torch::kBFloat16) scale = 1.0;
  optimizer.zero_grad();
  torch::Tensor loss = forward_and_loss(model, batch, dtype).loss;
  (loss * scale).backward();
  for (torch::Tensor p : model.parameters) p.mutable_grad().div_(scale);
  optimizer.step();
  return loss.item<float>();
}

}  // namespace autocast
