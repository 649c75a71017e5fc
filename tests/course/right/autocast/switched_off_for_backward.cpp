// One function for every step, which switches autocast off between forward and backward by hand.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

namespace autocast {

namespace ac = at::autocast;

struct Restore {
  bool enabled = ac::is_autocast_enabled(at::kCPU);
  bool cache = ac::is_autocast_cache_enabled();
  torch::ScalarType dtype = ac::get_autocast_dtype(at::kCPU);
  Restore() { ac::increment_nesting(); }
  ~Restore() {
    ac::set_autocast_enabled(at::kCPU, enabled);
    ac::set_autocast_cache_enabled(cache);
    ac::set_autocast_dtype(at::kCPU, dtype);
    ac::clear_cache();
    ac::decrement_nesting();
  }
};

static Pass pass_from_here(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  ac::clear_cache();
  ac::set_autocast_dtype(at::kCPU, dtype);
  ac::set_autocast_enabled(at::kCPU, true);
  auto output = model.forward(batch.x);
  auto loss = at::mse_loss(output, batch.y);
  ac::set_autocast_enabled(at::kCPU, false);
  return {output, loss};
}

static double step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                   torch::optim::Optimizer& optimizer, double scale) {
  optimizer.zero_grad();
  const auto loss = pass_from_here(model, batch, dtype).loss;
  torch::Tensor start = loss;
  if (scale != 1) start = start * scale;
  start.backward();
  for (auto p : model.parameters)
    if (p.grad().defined() && scale != 1) p.grad().div_(scale);
  optimizer.step();
  return loss.item<double>();
}

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  Restore restore;
  return pass_from_here(model, batch, dtype);
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  Restore restore;
  return step(model, batch, dtype, optimizer, 1);
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  Restore restore;
  std::vector<double> losses;
  for (const auto& batch : batches) losses.push_back(step(model, batch, dtype, optimizer, 1));
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  Restore restore;
  ac::set_autocast_enabled(at::kCPU, false);
  const auto wide = input.to(at::kFloat);
  return op(wide);
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  Restore restore;
  return step(model, batch, dtype, optimizer, dtype == at::kHalf ? scale : 1);
}

}  // namespace autocast
