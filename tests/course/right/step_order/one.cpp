// The recipe, call by call, in every function.
#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;

void mixed_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  optimizer.zero_grad();
  torch::Tensor loss;
  {
    amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
    loss = torch::mse_loss(model.forward(batch.x), batch.y);
  }
  scaler.scale(loss).backward();
  scaler.unscale_(optimizer);
  amp::clip_grad_norm_(model.weights, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      amp::GradScaler& scaler, const std::vector<Batch>& window, double max_norm) {
  optimizer.zero_grad();
  for (const Batch& batch : window) {
    torch::Tensor loss;
    {
      amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(model.forward(batch.x), batch.y) / static_cast<double>(window.size());
    }
    scaler.scale(loss).backward();
  }
  scaler.unscale_(optimizer);
  amp::clip_grad_norm_(model.weights, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  first.optimizer.zero_grad();
  second.optimizer.zero_grad();
  torch::Tensor first_loss, second_loss;
  {
    amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
    first_loss = torch::mse_loss(first.model.forward(first.batch.x), first.batch.y);
    second_loss = torch::mse_loss(second.model.forward(second.batch.x), second.batch.y);
  }
  scaler.scale(first_loss).backward();
  scaler.scale(second_loss).backward();
  scaler.unscale_(first.optimizer);
  scaler.unscale_(second.optimizer);
  amp::clip_grad_norm_(first.model.weights, max_norm);
  amp::clip_grad_norm_(second.model.weights, max_norm);
  scaler.step(first.optimizer);
  scaler.step(second.optimizer);
  scaler.update();
}

bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  optimizer.zero_grad();
  torch::Tensor loss;
  {
    amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
    loss = torch::mse_loss(model.forward(batch.x), batch.y);
  }
  scaler.scale(loss).backward();
  scaler.unscale_(optimizer);
  amp::clip_grad_norm_(model.weights, max_norm);
  const bool stepped = scaler.step(optimizer);
  scaler.update();
  if (stepped) {
    schedule.step();
    progress.follow(model);
  }
  return stepped;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, torch::optim::SGDOptions(lr));
  amp::GradScaler scaler;
  std::vector<Record> records;
  for (const Batch& batch : batches) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(model.forward(batch.x), batch.y);
    }
    Record record;
    record.loss = loss.item<double>();
    record.scale = scaler.get_scale();
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    record.norm = amp::clip_grad_norm_(model.weights, max_norm).item<double>();
    record.stepped = scaler.step(optimizer);
    scaler.update();
    records.push_back(record);
  }
  return records;
}

}  // namespace step_order
