// The region holds the model alone; the loss is written out in float32 behind it.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

namespace autocast {

namespace {

class Switch {
 public:
  Switch(bool enabled, torch::ScalarType dtype) {
    enabled_ = at::autocast::is_autocast_enabled(torch::kCPU);
    dtype_ = at::autocast::get_autocast_dtype(torch::kCPU);
    set(enabled, dtype);
  }
  ~Switch() { set(enabled_, dtype_); }

 private:
  static void set(bool enabled, torch::ScalarType dtype) {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(torch::kCPU, enabled);
    at::autocast::set_autocast_dtype(torch::kCPU, dtype);
  }
  bool enabled_ = false;
  torch::ScalarType dtype_;
};

torch::Tensor mean_square(const torch::Tensor& output, const torch::Tensor& y) {
  const auto wide = output.to(torch::kFloat32);
  torch::Tensor sum = torch::zeros({}, torch::kFloat32);
  for (int64_t row = 0; row < y.size(0); ++row) sum = sum + (wide[row] - y[row]).pow(2).sum();
  return sum / y.numel();
}

void forget(torch::optim::Optimizer& optimizer) { optimizer.zero_grad(/*set_to_none=*/false); }

}  // namespace

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  torch::Tensor output;
  {
    Switch on(true, dtype);
    output = model.forward(batch.x);
  }
  Switch off(false, dtype);  // also where the caller's is on
  return {output, mean_square(output, batch.y)};
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  return train(model, {batch}, dtype, optimizer).front();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  for (const auto& batch : batches) {
    const auto loss = forward_and_loss(model, batch, dtype).loss;
    forget(optimizer);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  Switch off(false, torch::kHalf);
  return op(input.to(torch::kFloat32)).clone();
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  if (dtype == torch::kBFloat16) return training_step(model, batch, dtype, optimizer);
  const auto loss = forward_and_loss(model, batch, dtype).loss;
  forget(optimizer);
  (loss * scale).backward();
  {
    torch::NoGradGuard no_grad;
    for (auto parameter : model.parameters) parameter.mutable_grad() *= 1 / scale;
  }
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
