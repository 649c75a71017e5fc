// Python's class, with what it lacks: the copies go where the outermost region ends, and wherever
// the dtype changes.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

namespace autocast {

class Autocast {
 public:
  Autocast(torch::ScalarType dtype, bool enabled, bool cache = true)
      : prev_(at::autocast::is_autocast_enabled(at::kCPU)),
        prev_dtype_(at::autocast::get_autocast_dtype(at::kCPU)),
        prev_cache_(at::autocast::is_autocast_cache_enabled()),
        changes_(dtype != prev_dtype_) {
    if (changes_) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, enabled);
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
    at::autocast::increment_nesting();
    at::autocast::set_autocast_cache_enabled(cache);
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0 || changes_) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, prev_);
    at::autocast::set_autocast_dtype(at::kCPU, prev_dtype_);
    at::autocast::set_autocast_cache_enabled(prev_cache_);
  }

 private:
  bool prev_;
  torch::ScalarType prev_dtype_;
  bool prev_cache_;
  bool changes_;
};

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  Pass pass;
  {
    Autocast region(dtype, true);
    pass.output = model.forward(batch.x);
    pass.loss = torch::mse_loss(pass.output, batch.y);
  }
  return pass;
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  Pass pass = forward_and_loss(model, batch, dtype);
  optimizer.zero_grad();
  pass.loss.backward();
  optimizer.step();
  return pass.loss.item<double>();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<torch::Tensor> losses;
  for (const Batch& batch : batches) {
    losses.push_back(forward_and_loss(model, batch, dtype).loss);
    optimizer.zero_grad();
    losses.back().backward();
    optimizer.step();
  }
  std::vector<double> numbers;
  for (const auto& loss : losses) numbers.push_back(loss.item<double>());
  return numbers;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  Autocast island(at::autocast::get_autocast_dtype(at::kCPU), false,
                  at::autocast::is_autocast_cache_enabled());
  return op(input.scalar_type() == torch::kFloat32 ? input : input.to(torch::kFloat32));
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  const bool scaled = dtype == torch::kFloat16;
  torch::Tensor loss;
  {
    Autocast region(dtype, true);
    loss = torch::mse_loss(model.forward(batch.x), batch.y);
  }
  optimizer.zero_grad();
  if (scaled) {
    loss.mul(scale).backward();
    for (auto& group : optimizer.param_groups()) {
      for (auto& p : group.params()) p.mutable_grad().mul_(1 / scale);
    }
  } else {
    loss.backward();
  }
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
