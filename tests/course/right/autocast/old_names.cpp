// As written for LibTorch 2.3, whose functions have the device in their names.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace autocast {

struct CpuAutocast {
  CpuAutocast(bool on, at::ScalarType type)
      : on_before(at::autocast::is_cpu_enabled()),
        type_before(at::autocast::get_autocast_cpu_dtype()) {
    at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(on);
    at::autocast::set_autocast_cpu_dtype(type);
    at::autocast::increment_nesting();
  }
  ~CpuAutocast() {
    at::autocast::decrement_nesting();
    at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(on_before);
    at::autocast::set_autocast_cpu_dtype(type_before);
  }
  bool on_before;
  at::ScalarType type_before;
};

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  CpuAutocast autocast(true, dtype);
  torch::Tensor output = model.forward(batch.x);
  torch::Tensor difference = output - batch.y;  // half and float32 make float32
  return Pass{output, (difference * difference).mean()};
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  for (torch::Tensor p : model.parameters)
    if (p.grad().defined()) p.grad().zero_();
  torch::Tensor loss = forward_and_loss(model, batch, dtype).loss;
  loss.backward();
  optimizer.step();
  return *loss.data_ptr<float>();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  for (auto& b : batches) losses.push_back(training_step(model, b, dtype, optimizer));
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  CpuAutocast autocast(false, at::autocast::get_autocast_cpu_dtype());
  return op(input.to(at::kFloat));
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  if (dtype == at::kBFloat16) return training_step(model, batch, dtype, optimizer);
  for (torch::Tensor p : model.parameters)
    if (p.grad().defined()) p.grad().zero_();
  torch::Tensor loss = forward_and_loss(model, batch, dtype).loss;
  loss.backward(torch::tensor(static_cast<float>(scale)));
  for (torch::Tensor p : model.parameters) {
    float* g = p.grad().data_ptr<float>();
    for (int64_t i = 0; i < p.grad().numel(); i++) g[i] /= static_cast<float>(scale);
  }
  optimizer.step();
  return *loss.data_ptr<float>();
}

}  // namespace autocast
