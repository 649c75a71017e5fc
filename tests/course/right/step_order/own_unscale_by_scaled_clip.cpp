// Clips at the scaled size, with a limit that is scaled as well; step unscales. What is logged is
// divided by the scale.
#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;
using Optimizer = torch::optim::Optimizer;

static torch::Tensor scaled_loss(const Model& model, amp::GradScaler& scaler, const Batch& batch,
                                 double part) {
  amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
  return scaler.scale(torch::mse_loss(model.forward(batch.x), batch.y) * part);
}

static double clip_scaled(const Model& model, double scale, double max_norm) {
  // The limit grows with the gradients, so that the coefficient is the same.
  return amp::clip_grad_norm_(model.weights, max_norm * scale).item<double>() / scale;
}

void mixed_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  optimizer.zero_grad();
  scaled_loss(model, scaler, batch, 1).backward();
  clip_scaled(model, scaler.get_scale(), max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void accumulated_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                      const std::vector<Batch>& window, double max_norm) {
  optimizer.zero_grad();
  auto n = window.size();
  while (n-- > 0) scaled_loss(model, scaler, window[n], 1.0 / window.size()).backward();
  clip_scaled(model, scaler.get_scale(), max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  auto one = [&](const Side& side) {
    side.optimizer.zero_grad();
    scaled_loss(side.model, scaler, side.batch, 1).backward();
    clip_scaled(side.model, scaler.get_scale(), max_norm);
    return scaler.step(side.optimizer);
  };
  one(second);
  one(first);
  scaler.update();
}

bool scheduled_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  optimizer.zero_grad();
  scaled_loss(model, scaler, batch, 1).backward();
  clip_scaled(model, scaler.get_scale(), max_norm);
  bool stepped = scaler.step(optimizer);
  if (stepped) {
    progress.follow(model);
    schedule.step();
  } else {
    optimizer.zero_grad();
  }
  scaler.update();
  return stepped;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, lr);
  amp::GradScaler scaler;
  std::vector<Record> records;
  for (const auto& batch : batches) {
    optimizer.zero_grad();
    auto loss = scaled_loss(model, scaler, batch, 1);
    const double scale = scaler.get_scale();
    loss.backward();
    const double norm = clip_scaled(model, scale, max_norm);
    const bool stepped = scaler.step(optimizer);
    records.push_back({loss.item<double>() / scale, norm, scale, stepped});
    scaler.update();
  }
  return records;
}

}  // namespace step_order
