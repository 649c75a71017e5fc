// A stack of states, pushed and popped; the loss as a dot product of the differences.
#include <ATen/autocast_mode.h>

#include <stack>

#include "autocast.hpp"

namespace autocast {

namespace {

struct State {
  bool enabled;
  at::ScalarType dtype;
  bool cache;
};

thread_local std::stack<State> states;

void push(bool enabled, at::ScalarType dtype) {
  states.push({at::autocast::is_autocast_enabled(at::kCPU),
               at::autocast::get_autocast_dtype(at::kCPU),
               at::autocast::is_autocast_cache_enabled()});
  at::autocast::set_autocast_enabled(at::kCPU, enabled);
  at::autocast::set_autocast_dtype(at::kCPU, dtype);
  at::autocast::set_autocast_cache_enabled(false);
  at::autocast::increment_nesting();
}

void pop() {
  const State& state = states.top();
  at::autocast::set_autocast_enabled(at::kCPU, state.enabled);
  at::autocast::set_autocast_dtype(at::kCPU, state.dtype);
  at::autocast::set_autocast_cache_enabled(state.cache);
  at::autocast::decrement_nesting();
  states.pop();
}

std::shared_ptr<void> pushed(bool enabled, at::ScalarType dtype) {
  push(enabled, dtype);
  return {nullptr, [](void*) { pop(); }};
}

}  // namespace

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  torch::Tensor output;
  {
    const auto region = pushed(true, dtype);
    output = model.forward(batch.x);
  }
  const auto off = pushed(false, dtype);
  const auto difference = (output.to(at::kFloat) - batch.y).flatten();
  return {output, difference.dot(difference) / static_cast<double>(batch.y.numel())};
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  optimizer.zero_grad();
  const auto pass = forward_and_loss(model, batch, dtype);
  pass.loss.backward();
  optimizer.step();
  return static_cast<double>(pass.loss.item<float>());
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  losses.reserve(batches.size());
  for (const auto& batch : batches) losses.push_back(training_step(model, batch, dtype, optimizer));
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  const auto island = pushed(false, input.scalar_type());
  return op(input.to(at::kFloat));
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  if (dtype == at::kBFloat16) return training_step(model, batch, dtype, optimizer);
  optimizer.zero_grad();
  const auto pass = forward_and_loss(model, batch, dtype);
  (pass.loss * scale).backward();
  for (const auto& parameter : model.parameters) parameter.grad().copy_(parameter.grad() / scale);
  optimizer.step();
  return static_cast<double>(pass.loss.item<float>());
}

}  // namespace autocast
