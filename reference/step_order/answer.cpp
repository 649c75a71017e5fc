// The step_order lab's answer: the recipe's order, as plain as it can be written, and the yardstick
// of every check.
#include "judge/implementations.hpp"
#include "step_order.hpp"

namespace {

namespace amp = gradlab::amp;
using step_order::Batch;
using step_order::Model;
using step_order::Progress;
using step_order::Record;
using step_order::Side;
using torch::optim::Optimizer;

// A region of its own for each forward: it ends before backward, and drops the float16 weights.
torch::Tensor loss_of(const Model& model, const Batch& batch) {
  const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
  return torch::mse_loss(model.forward(batch.x), batch.y);
}

// From scaled gradients to clipped ones, and the step or the skip. The caller updates the scaler:
// there may be another optimizer first.
bool finish(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler, double max_norm) {
  scaler.unscale_(optimizer);  // before the limit means anything
  amp::clip_grad_norm_(model.weights, max_norm);
  return scaler.step(optimizer);
}

bool one_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler, const Batch& batch,
              double max_norm) {
  optimizer.zero_grad();
  scaler.scale(loss_of(model, batch)).backward();
  const bool stepped = finish(model, optimizer, scaler, max_norm);
  scaler.update();
  return stepped;
}

void mixed_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  one_step(model, optimizer, scaler, batch, max_norm);
}

void accumulated_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                      const std::vector<Batch>& window, double max_norm) {
  const auto count = static_cast<double>(window.size());
  optimizer.zero_grad();
  for (const auto& batch : window) scaler.scale(loss_of(model, batch) / count).backward();
  finish(model, optimizer, scaler, max_norm);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  for (const Side* side : {&first, &second}) {
    side->optimizer.zero_grad();
    scaler.scale(loss_of(side->model, side->batch)).backward();
    finish(side->model, side->optimizer, scaler, max_norm);
  }
  scaler.update();  // once, after both
}

bool scheduled_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  const bool stepped = one_step(model, optimizer, scaler, batch, max_norm);
  if (stepped) {
    schedule.step();
    progress.follow(model);
  }
  return stepped;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, lr);
  amp::GradScaler scaler;
  std::vector<Record> records;
  for (const auto& batch : batches) {
    optimizer.zero_grad();
    const auto loss = loss_of(model, batch);
    scaler.scale(loss).backward();
    const double scale = scaler.get_scale();
    scaler.unscale_(optimizer);
    const auto norm = amp::clip_grad_norm_(model.weights, max_norm);
    const bool stepped = scaler.step(optimizer);
    scaler.update();
    records.push_back({loss.item<double>(), norm.item<double>(), scale, stepped});
  }
  return records;
}

step_order::Impl answer() {
  step_order::Impl impl;
  impl.mixed_step = mixed_step;
  impl.accumulated_step = accumulated_step;
  impl.two_optimizer_step = two_optimizer_step;
  impl.scheduled_step = scheduled_step;
  impl.train = train;
  return impl;
}

[[maybe_unused]] const bool kRegistered = gradlab::set_reference(answer());

}  // namespace
