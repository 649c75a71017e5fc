// The plain way: one scope, and every function built on the one before.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

namespace autocast {

namespace {

struct Region {
  bool enabled = at::autocast::is_autocast_enabled(torch::kCPU);
  torch::ScalarType dtype = at::autocast::get_autocast_dtype(torch::kCPU);

  Region(bool on, torch::ScalarType wanted) {
    at::autocast::clear_cache();
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(torch::kCPU, on);
    at::autocast::set_autocast_dtype(torch::kCPU, wanted);
  }
  ~Region() {
    at::autocast::clear_cache();
    at::autocast::decrement_nesting();
    at::autocast::set_autocast_enabled(torch::kCPU, enabled);
    at::autocast::set_autocast_dtype(torch::kCPU, dtype);
  }
};

}  // namespace

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  Region region(true, dtype);
  auto output = model.forward(batch.x);
  auto loss = torch::mse_loss(output, batch.y);
  return {output, loss};
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  optimizer.zero_grad();
  auto loss = forward_and_loss(model, batch, dtype).loss;
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  for (const auto& batch : batches) losses.push_back(training_step(model, batch, dtype, optimizer));
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  Region island(false, torch::kBFloat16);
  return op(input.to(torch::kFloat));
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  if (dtype == torch::kBFloat16) return training_step(model, batch, dtype, optimizer);
  optimizer.zero_grad();
  auto loss = forward_and_loss(model, batch, dtype).loss;
  (loss * scale).backward();
  for (auto& p : model.parameters) p.mutable_grad() /= scale;
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
