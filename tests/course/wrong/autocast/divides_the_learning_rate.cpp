// Wrong: not the gradients but the learning rate is divided by the scale for one step (strange;
// the same only for SGD without weight decay or momentum).
// In task 5.
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
  std::vector<double> losses(batches.size());
  for (size_t i = 0; i < batches.size(); ++i) {
    losses[i] = training_step(model, batches[i], dtype, optimizer);
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
  optimizer.zero_grad();
  const Pass pass = forward_and_loss(model, batch, dtype);
  if (dtype == torch::kBFloat16) {
    pass.loss.backward();
    optimizer.step();
    return pass.loss.item<double>();
  }
  (pass.loss * scale).backward();
  std::vector<double> rates;
  for (auto& group : optimizer.param_groups()) {  // a longer gradient, a shorter step
    rates.push_back(group.options().get_lr());
    group.options().set_lr(rates.back() / scale);
  }
  optimizer.step();
  for (size_t i = 0; i < rates.size(); ++i) {
    optimizer.param_groups()[i].options().set_lr(rates[i]);
  }
  return pass.loss.item<double>();
}

}  // namespace autocast
