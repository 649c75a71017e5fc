#include "common.hpp"

namespace gradlab::step_order_bugs {
namespace {

void mixed_step(const Step& step) { step.right(); }
void accumulated_step(const Window& window) { window.right(); }

void two_optimizer_step(const Side& first, const Side& second, Scaler& scaler, double max_norm) {
  for (const Side* side : {&first, &second}) {
    side->optimizer.zero_grad();
    backward_of(*side, scaler);
    moves_of(*side, scaler, max_norm).finish();
  }
  scaler.update();
}

bool scheduled_step(const Step& step, LRScheduler& schedule, Progress& progress) {
  if (!step.right()) return false;
  schedule.step();
  progress.follow(step.model);
  return true;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, lr);
  Scaler scaler;
  std::vector<Record> records;
  for (const auto& batch : batches) {
    optimizer.zero_grad();
    const auto loss = loss_of(model, batch);
    scaler.scale(loss).backward();
    const double scale = scaler.get_scale();
    scaler.unscale_(optimizer);
    const double norm = amp::clip_grad_norm_(model.weights, max_norm).item<double>();
    const bool stepped = scaler.step(optimizer);
    scaler.update();
    records.push_back({loss.item<double>(), norm, scale, stepped});
  }
  return records;
}

}  // namespace

Impl right() {
  Impl impl;
  impl.mixed_step = as_mixed<mixed_step>;
  impl.accumulated_step = as_accumulated<accumulated_step>;
  impl.two_optimizer_step = two_optimizer_step;
  impl.scheduled_step = as_scheduled<scheduled_step>;
  impl.train = train;
  return impl;
}

}  // namespace gradlab::step_order_bugs
