// The state belongs to a thread, so the region gets a thread of its own and nothing is put back.
#include <ATen/autocast_mode.h>

#include <future>
#include <thread>

#include "autocast.hpp"

namespace autocast {

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  // The cache is one for all threads.
  at::autocast::clear_cache();
  std::promise<Pass> promise;
  const bool gradients = torch::GradMode::is_enabled();
  std::thread region([&] {
    torch::AutoGradMode mode(gradients);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
    try {
      auto output = model.forward(batch.x);
      promise.set_value({output, torch::mse_loss(output, batch.y)});
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  region.join();
  at::autocast::clear_cache();
  return promise.get_future().get();
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
  std::promise<torch::Tensor> promise;
  std::thread island([&] {
    try {
      promise.set_value(op(input.to(torch::kFloat32)));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  island.join();
  return promise.get_future().get();
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  if (dtype != torch::kFloat16) return training_step(model, batch, dtype, optimizer);
  optimizer.zero_grad();
  auto loss = forward_and_loss(model, batch, dtype).loss;
  (loss * scale).backward();
  for (auto p : model.parameters) p.mutable_grad() /= scale;
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
