// Wrong: after the island autocast is switched on, whether it was on before or not; and the
// float16 step returns the scaled loss.
// In task 4 and task 5.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

namespace autocast {

namespace {

class Region {
 public:
  Region(bool on, torch::ScalarType dtype)
      : was_on_(at::autocast::is_autocast_enabled(at::kCPU)),
        old_dtype_(at::autocast::get_autocast_dtype(at::kCPU)),
        old_cache_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(at::kCPU, on);
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
    at::autocast::clear_cache();
  }
  ~Region() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_cache_enabled(old_cache_);
    at::autocast::set_autocast_dtype(at::kCPU, old_dtype_);
    at::autocast::set_autocast_enabled(at::kCPU, was_on_);
    at::autocast::decrement_nesting();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  bool was_on_;
  torch::ScalarType old_dtype_;
  bool old_cache_;
};

}  // namespace

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  const Region region(true, dtype);
  Pass pass;
  pass.output = model.forward(batch.x);
  pass.loss = torch::mse_loss(pass.output, batch.y);
  return pass;
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  optimizer.zero_grad();
  const Pass pass = forward_and_loss(model, batch, dtype);
  pass.loss.backward();
  optimizer.step();
  return pass.loss.item<double>();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  losses.reserve(batches.size());
  for (const Batch& batch : batches) {
    losses.push_back(training_step(model, batch, dtype, optimizer));
  }
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  struct Island {
    Island() { at::autocast::set_autocast_enabled(at::kCPU, false); }
    ~Island() { at::autocast::set_autocast_enabled(at::kCPU, true); }
  };
  const Island island;
  return op(input.to(torch::kFloat32));
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  optimizer.zero_grad();
  torch::Tensor loss = forward_and_loss(model, batch, dtype).loss;
  const bool scaled = dtype == torch::kFloat16;
  if (scaled) loss = loss * scale;
  loss.backward();
  if (scaled) {
    for (const auto& p : model.parameters) {
      if (p.grad().defined()) p.grad().div_(scale);
    }
  }
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
