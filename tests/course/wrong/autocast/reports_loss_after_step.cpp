// Wrong: the loss reported for a batch is taken anew after its step, with the new weights.
// In task 3.
#include <ATen/autocast_mode.h>

#include "autocast.hpp"

namespace autocast {

namespace {

namespace ac = at::autocast;

struct State {
  bool enabled = ac::is_autocast_enabled(at::kCPU);
  at::ScalarType dtype = ac::get_autocast_dtype(at::kCPU);

  void restore() const {
    ac::set_autocast_enabled(at::kCPU, enabled);
    ac::set_autocast_dtype(at::kCPU, dtype);
  }
};

template <typename F>
auto with_autocast(bool on, at::ScalarType dtype, F f) {
  const State before;
  struct Restorer {
    const State& state;
    ~Restorer() {
      ac::clear_cache();
      ac::decrement_nesting();
      state.restore();
    }
  };
  ac::increment_nesting();
  ac::clear_cache();
  ac::set_autocast_enabled(at::kCPU, on);
  ac::set_autocast_dtype(at::kCPU, dtype);
  const Restorer restorer{before};
  return f();
}

}  // namespace

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  return with_autocast(true, dtype, [&] {
    torch::Tensor output = model.forward(batch.x);
    torch::Tensor loss = (output.to(torch::kFloat) - batch.y).square().mean();
    return Pass{output, loss};
  });
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  for (const auto& p : model.parameters) p.mutable_grad().reset();
  auto [output, loss] = forward_and_loss(model, batch, dtype);
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  for (const Batch& batch : batches) {
    training_step(model, batch, dtype, optimizer);
    const torch::NoGradGuard no_grad;
    losses.push_back(forward_and_loss(model, batch, dtype).loss.item<double>());
  }
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  return with_autocast(false, ac::get_autocast_dtype(at::kCPU),
                       [&] { return op(input.to(torch::kFloat)); });
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  for (const auto& p : model.parameters) p.mutable_grad().reset();
  const double factor = dtype == torch::kHalf ? scale : 1.0;
  auto [output, loss] = forward_and_loss(model, batch, dtype);
  (loss * factor).backward();
  if (factor != 1.0) {
    const torch::NoGradGuard no_grad;
    for (const auto& p : model.parameters) {
      if (p.grad().defined()) p.grad().mul_(1.0 / factor);
    }
  }
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
