// Below the autocast functions: "enabled" is a dispatch key that is not excluded.
#include <ATen/autocast_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>

#include "autocast.hpp"

namespace autocast {

namespace {

constexpr c10::DispatchKeySet kAutocast(c10::DispatchKey::AutocastCPU);

struct DtypeScope {
  explicit DtypeScope(at::ScalarType dtype) : before(at::autocast::get_autocast_dtype(at::kCPU)) {
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
    at::autocast::clear_cache();
  }
  ~DtypeScope() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(at::kCPU, before);
  }
  at::ScalarType before;
};

}  // namespace

Pass forward_and_loss(const Model& model, const Batch& batch, torch::ScalarType dtype) {
  const auto local = c10::impl::tls_local_dispatch_key_set();
  const c10::impl::ForceDispatchKeyGuard region(local.included_, local.excluded_ - kAutocast);
  const DtypeScope scope(dtype);
  const auto output = model.forward(batch.x);
  return {output, torch::mse_loss(output, batch.y)};
}

double training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                     torch::optim::Optimizer& optimizer) {
  const auto loss = forward_and_loss(model, batch, dtype).loss;
  const auto gradients = torch::autograd::grad({loss}, model.parameters);
  for (size_t i = 0; i < gradients.size(); ++i) {
    auto parameter = model.parameters[i];
    parameter.mutable_grad() = gradients[i];
  }
  optimizer.step();
  return loss.item<double>();
}

std::vector<double> train(const Model& model, const std::vector<Batch>& batches,
                          torch::ScalarType dtype, torch::optim::Optimizer& optimizer) {
  std::vector<double> losses;
  for (const auto& batch : batches) losses.push_back(training_step(model, batch, dtype, optimizer));
  return losses;
}

torch::Tensor in_float32(const std::function<torch::Tensor(const torch::Tensor&)>& op,
                         const torch::Tensor& input) {
  const c10::impl::ExcludeDispatchKeyGuard off(kAutocast);
  return op(input.to(torch::kFloat32));
}

double scaled_training_step(const Model& model, const Batch& batch, torch::ScalarType dtype,
                            torch::optim::Optimizer& optimizer, double scale) {
  if (dtype != torch::kHalf) return training_step(model, batch, dtype, optimizer);
  const auto loss = forward_and_loss(model, batch, dtype).loss;
  const auto start = torch::full_like(loss, scale);
  const auto gradients = torch::autograd::grad({loss}, model.parameters, {start});
  for (size_t i = 0; i < gradients.size(); ++i) {
    auto parameter = model.parameters[i];
    parameter.mutable_grad() = gradients[i] / scale;
  }
  optimizer.step();
  return loss.item<double>();
}

}  // namespace autocast
