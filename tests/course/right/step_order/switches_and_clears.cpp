// Autocast by LibTorch's own switches, put back and cleared by a small class. They are declared by
// hand: their header drags in all of ATen.
#include "step_order.hpp"

namespace at::autocast {
bool is_autocast_enabled(at::DeviceType device);
void set_autocast_enabled(at::DeviceType device, bool enabled);
at::ScalarType get_autocast_dtype(at::DeviceType device);
void set_autocast_dtype(at::DeviceType device, at::ScalarType dtype);
void clear_cache();
}  // namespace at::autocast

namespace step_order {
namespace {

struct Float16Region {
  bool was_on = at::autocast::is_autocast_enabled(at::kCPU);
  at::ScalarType was_dtype = at::autocast::get_autocast_dtype(at::kCPU);
  Float16Region() {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kHalf);
  }
  ~Float16Region() {
    at::autocast::set_autocast_enabled(at::kCPU, was_on);
    at::autocast::set_autocast_dtype(at::kCPU, was_dtype);
    at::autocast::clear_cache();
  }
};

torch::Tensor loss_of(const Model& model, const Batch& batch) {
  Float16Region region;
  return torch::mse_loss(model.forward(batch.x), batch.y);
}

// LibTorch's norm, and a coefficient that never leaves the tensors.
torch::Tensor clip(const Model& model, double max_norm) {
  std::vector<torch::Tensor> norms;
  for (const auto& weight : model.weights) norms.push_back(weight.grad().norm());
  const auto total = torch::stack(norms).norm();
  const auto factor = (max_norm / (total + 1e-6)).clamp_max(1.0);
  for (const auto& weight : model.weights) weight.grad().mul_(factor);
  return total;
}

}  // namespace

void mixed_step(const Model& model, torch::optim::Optimizer& optimizer,
                gradlab::amp::GradScaler& scaler, const Batch& batch, double max_norm) {
  optimizer.zero_grad();
  scaler.scale(loss_of(model, batch)).backward();
  scaler.unscale_(optimizer);
  clip(model, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      gradlab::amp::GradScaler& scaler, const std::vector<Batch>& window,
                      double max_norm) {
  const float weight = 1.0f / static_cast<float>(window.size());
  optimizer.zero_grad();
  for (const auto& batch : window) {
    auto loss = loss_of(model, batch);
    loss = loss.mul(weight);
    scaler.scale(loss).backward();
  }
  scaler.unscale_(optimizer);
  clip(model, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, gradlab::amp::GradScaler& scaler,
                        double max_norm) {
  const Side* sides[] = {&second, &first};
  for (const auto* side : sides) side->optimizer.zero_grad();
  for (const auto* side : sides) scaler.scale(loss_of(side->model, side->batch)).backward();
  for (const auto* side : sides) {
    scaler.unscale_(side->optimizer);
    clip(side->model, max_norm);
    scaler.step(side->optimizer);
  }
  scaler.update();
}

bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer,
                    gradlab::amp::GradScaler& scaler, torch::optim::LRScheduler& schedule,
                    Progress& progress, const Batch& batch, double max_norm) {
  optimizer.zero_grad();
  scaler.scale(loss_of(model, batch)).backward();
  scaler.unscale_(optimizer);
  clip(model, max_norm);
  if (const bool stepped = scaler.step(optimizer); !stepped) {
    scaler.update();
    return false;
  }
  scaler.update();
  progress.follow(model);
  schedule.step();
  return true;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, lr);
  gradlab::amp::GradScaler scaler;
  std::vector<Record> records;
  records.reserve(batches.size());
  for (const auto& batch : batches) {
    auto loss = loss_of(model, batch);
    optimizer.zero_grad();
    const auto scaled = scaler.scale(loss);
    const double scale = scaler.get_scale();
    scaled.backward();
    scaler.unscale_(optimizer);
    const auto norm = clip(model, max_norm);
    const bool stepped = scaler.step(optimizer);
    scaler.update();
    records.push_back({loss.item<double>(), norm.item<double>(), scale, stepped});
  }
  return records;
}

}  // namespace step_order
