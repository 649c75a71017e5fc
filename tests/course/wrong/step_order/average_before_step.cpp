// Wrong: progress follows before the optimizer steps (if the norm is finite), so the average takes
// in the old weights.
// In task 4.
#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;

namespace {

torch::Tensor loss_of(const Model& model, const Batch& batch) {
  const amp::AutocastGuard region(torch::kCPU, torch::kHalf);
  return torch::mse_loss(model.forward(batch.x), batch.y);
}

}  // namespace

void mixed_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  optimizer.zero_grad();
  scaler.scale(loss_of(model, batch)).backward();
  scaler.unscale_(optimizer);
  amp::clip_grad_norm_(model.weights, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      amp::GradScaler& scaler, const std::vector<Batch>& window, double max_norm) {
  optimizer.zero_grad();
  const auto n = static_cast<double>(window.size());
  for (const Batch& part : window) scaler.scale(loss_of(model, part) / n).backward();
  scaler.unscale_(optimizer);
  amp::clip_grad_norm_(model.weights, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  for (const Side* side : {&first, &second}) {
    side->optimizer.zero_grad();
    scaler.scale(loss_of(side->model, side->batch)).backward();
    scaler.unscale_(side->optimizer);
    amp::clip_grad_norm_(side->model.weights, max_norm);
    scaler.step(side->optimizer);
  }
  scaler.update();
}

bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  optimizer.zero_grad();
  scaler.scale(loss_of(model, batch)).backward();
  scaler.unscale_(optimizer);
  const torch::Tensor norm = amp::clip_grad_norm_(model.weights, max_norm);
  const bool good = torch::isfinite(norm).item<bool>();
  if (good) progress.follow(model);
  scaler.step(optimizer);
  if (good) schedule.step();
  scaler.update();
  return good;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, torch::optim::SGDOptions(lr));
  amp::GradScaler scaler;
  std::vector<Record> records;
  for (const Batch& batch : batches) {
    optimizer.zero_grad();
    const torch::Tensor loss = loss_of(model, batch);
    Record record{};
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
