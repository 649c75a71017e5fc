// Regions as a function that takes a function.
#include <ATen/autocast_mode.h>

#include <memory>
#include <optional>

#include "autocast.hpp"

namespace autocast {

namespace {

// With no dtype the region is a disabled one.
template <typename Body>
auto within(std::optional<torch::ScalarType> dtype, Body&& body) {
  struct Found {
    bool enabled;
    torch::ScalarType dtype;
  };
  const auto leave = [](Found* found) {
    at::autocast::set_autocast_enabled(at::kCPU, found->enabled);
    at::autocast::set_autocast_dtype(at::kCPU, found->dtype);
    at::autocast::decrement_nesting();
    at::autocast::clear_cache();
    delete found;
  };
  const std::unique_ptr<Found, decltype(leave)> found(
      new Found{at::autocast::is_autocast_enabled(at::kCPU),
                at::autocast::get_autocast_dtype(at::kCPU)},
      leave);
  at::autocast::increment_nesting();
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, dtype.has_value());
  if (dtype) at::autocast::set_autocast_dtype(at::kCPU, *dtype);
  return std::forward<Body>(body)();
}

}  // namespace

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  return within(dtype, [&]() -> Pass {
    const auto output = model.forward(batch.x);
    return {output, torch::mse_loss(output.to(torch::kFloat), batch.y)};
  });
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  optimizer.zero_grad();
  const auto loss = within(dtype, [&] { return torch::mse_loss(model.forward(batch.x), batch.y); });
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  std::transform(batches.begin(), batches.end(), std::back_inserter(losses),
                 [&](const Batch& batch) { return training_step(model, batch, dtype, optimizer); });
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  return within({}, [&] { return op(input.to(torch::kFloat)); });
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  const double by = dtype == torch::kHalf ? scale : 1;
  optimizer.zero_grad();
  const auto loss = within(dtype, [&] { return torch::mse_loss(model.forward(batch.x), batch.y); });
  (by * loss).backward();
  for (auto& group : optimizer.param_groups()) {
    for (auto& parameter : group.params()) {
      if (parameter.grad().defined()) parameter.mutable_grad() = parameter.grad() / by;
    }
  }
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
