// Asks the scaler's view for found_inf before stepping; clips through get_total_norm.
#include "step_order.hpp"

namespace step_order {

using gradlab::amp::AutocastGuard;
using gradlab::amp::GradScaler;
using torch::optim::Optimizer;

static torch::Tensor mse_half(const Model& model, const Batch& batch) {
  AutocastGuard region(torch::kCPU, c10::ScalarType::Half);
  return at::mse_loss(model.forward(batch.x), batch.y, at::Reduction::Mean);
}

static torch::Tensor clip(const std::vector<torch::Tensor>& weights, double max_norm) {
  std::vector<torch::Tensor> gradients;
  for (auto& w : weights)
    if (w.grad().defined()) gradients.push_back(w.grad());
  auto norm = gradlab::amp::get_total_norm(gradients);
  gradlab::amp::clip_grads_with_norm_(weights, max_norm, norm);
  return norm;
}

void mixed_step(const Model& model, Optimizer& optimizer, GradScaler& scaler, const Batch& batch,
                double max_norm) {
  optimizer.zero_grad(/*set_to_none=*/false);
  scaler.scale(mse_half(model, batch)).backward();
  scaler.unscale_(optimizer);
  clip(model.weights, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void accumulated_step(const Model& model, Optimizer& optimizer, GradScaler& scaler,
                      const std::vector<Batch>& window, double max_norm) {
  optimizer.zero_grad(false);
  // All forwards in one region, no step is between them; then one backward over the mean.
  torch::Tensor total;
  {
    AutocastGuard region(torch::kCPU, torch::kHalf);
    std::vector<torch::Tensor> losses;
    for (auto& b : window) losses.push_back(torch::mse_loss(model.forward(b.x), b.y));
    total = torch::stack(losses).mean();
  }
  scaler.scale(total).backward();
  scaler.unscale_(optimizer);
  clip(model.weights, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, GradScaler& scaler,
                        double max_norm) {
  first.optimizer.zero_grad(false);
  second.optimizer.zero_grad(false);
  auto scaled = scaler.scale(std::vector<torch::Tensor>{mse_half(first.model, first.batch),
                                                        mse_half(second.model, second.batch)});
  for (auto& loss : scaled) loss.backward();
  scaler.unscale_(second.optimizer);
  clip(second.model.weights, max_norm);
  scaler.unscale_(first.optimizer);
  clip(first.model.weights, max_norm);
  scaler.step(second.optimizer);
  scaler.step(first.optimizer);
  scaler.update();
}

bool scheduled_step(const Model& model, Optimizer& optimizer, GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  optimizer.zero_grad();
  scaler.scale(mse_half(model, batch)).backward();
  scaler.unscale_(optimizer);
  clip(model.weights, max_norm);
  const bool overflow = scaler.view(optimizer).found_inf.value();
  scaler.step(optimizer);
  if (!overflow) progress.follow(model);
  if (!overflow) schedule.step();
  scaler.update();
  return !overflow;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, torch::optim::SGDOptions(lr).momentum(0));
  GradScaler scaler{gradlab::amp::GradScalerOptions()};
  std::vector<Record> records;
  for (const Batch& batch : batches) {
    Record& r = records.emplace_back();
    optimizer.zero_grad();
    auto loss = mse_half(model, batch);
    scaler.scale(loss).backward();
    r.scale = scaler.get_scale();
    scaler.unscale_(optimizer);
    r.norm = clip(model.weights, max_norm).item<float>();
    r.stepped = !*scaler.view(optimizer).found_inf;
    scaler.step(optimizer);
    scaler.update();
    r.loss = loss.item<float>();
  }
  return records;
}

}  // namespace step_order
