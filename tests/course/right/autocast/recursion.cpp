// Macros, recursion, and a goto-free finally.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

#define ON_EXIT(...)            \
  struct Finally {              \
    std::function<void()> body; \
    ~Finally() { body(); }      \
  } finally {                   \
    [=]() { __VA_ARGS__; }      \
  }

namespace autocast {

static void set(bool on, torch::ScalarType dtype) {
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(c10::DeviceType::CPU, on);
  at::autocast::set_autocast_dtype(c10::DeviceType::CPU, dtype);
}

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  const bool on = at::autocast::is_autocast_enabled(c10::DeviceType::CPU);
  const auto was = at::autocast::get_autocast_dtype(c10::DeviceType::CPU);
  ON_EXIT(set(on, was));
  set(true, dtype);
  const auto output = model.forward(batch.x);
  return {output, torch::mse_loss(output, batch.y, at::Reduction::Mean)};
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  return scaled_training_step(model, batch, dtype, optimizer, 0);
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  if (batches.empty()) return {};
  std::vector<double> losses{training_step(model, batches.front(), dtype, optimizer)};
  const auto rest = train(model, {batches.begin() + 1, batches.end()}, dtype, optimizer);
  losses.insert(losses.end(), rest.begin(), rest.end());
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  const bool on = at::autocast::is_autocast_enabled(c10::DeviceType::CPU);
  const auto was = at::autocast::get_autocast_dtype(c10::DeviceType::CPU);
  ON_EXIT(set(on, was));
  set(false, was);
  return op(torch::zeros_like(input, torch::kFloat32) + input);
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  if (dtype == torch::kBFloat16 || scale == 0) scale = 1;
  optimizer.zero_grad();
  auto [output, loss] = forward_and_loss(model, batch, dtype);
  (loss * scale).backward();
  for (const auto& parameter : model.parameters) {
    if (parameter.grad().defined()) parameter.grad().data().div_(scale);
  }
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
