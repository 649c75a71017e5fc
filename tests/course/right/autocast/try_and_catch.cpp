// No destructor: every way out is written down.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

namespace autocast {

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  const bool was_on = at::autocast::is_autocast_enabled(at::kCPU);
  const auto old = at::autocast::get_autocast_dtype(at::kCPU);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, dtype);
  Pass pass;
  try {
    pass.output = model.forward(batch.x);
    pass.loss = torch::mse_loss(pass.output, batch.y);
  } catch (...) {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, was_on);
    at::autocast::set_autocast_dtype(at::kCPU, old);
    throw;
  }
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, was_on);
  at::autocast::set_autocast_dtype(at::kCPU, old);
  return pass;
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  const Pass pass = forward_and_loss(model, batch, dtype);
  optimizer.zero_grad();
  pass.loss.backward();
  optimizer.step();
  return pass.loss.item().toDouble();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  for (auto batch = batches.begin(); batch != batches.end(); ++batch) {
    losses.emplace_back(training_step(model, *batch, dtype, optimizer));
  }
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  const bool was_on = at::autocast::is_autocast_enabled(at::kCPU);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  torch::Tensor result;
  try {
    result = op(input.to(torch::kFloat32));
  } catch (...) {
    at::autocast::set_autocast_enabled(at::kCPU, was_on);
    throw;
  }
  at::autocast::set_autocast_enabled(at::kCPU, was_on);
  return result;
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  switch (dtype) {
    case torch::kBFloat16:
      return training_step(model, batch, dtype, optimizer);
    default:
      break;
  }
  const Pass pass = forward_and_loss(model, batch, dtype);
  optimizer.zero_grad();
  pass.loss.mul(scale).backward();
  for (const auto& parameter : model.parameters) {
    if (!parameter.grad().defined()) continue;
    torch::Tensor gradient = parameter.grad();
    gradient.mul_(1.0 / scale);
  }
  optimizer.step();
  return pass.loss.item().toDouble();
}

}  // namespace autocast
