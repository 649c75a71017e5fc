// torch::autograd::grad instead of backward, the gradients put into their places by hand.
#include <torch/csrc/autograd/autograd.h>

#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;

static torch::Tensor region_loss(const Model& model, const Batch& batch) {
  amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
  return torch::mse_loss(model.forward(batch.x), batch.y);
}

static void set_gradients(const Model& model, const torch::Tensor& scaled, bool add = false) {
  const auto gradients = torch::autograd::grad({scaled}, model.weights);
  for (size_t i = 0; i < model.weights.size(); ++i) {
    auto& slot = model.weights[i].mutable_grad();
    slot = add && slot.defined() ? slot + gradients[i] : gradients[i];
  }
}

static void end(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                double max_norm) {
  scaler.unscale_(optimizer);
  amp::clip_grad_norm_(model.weights, max_norm, 2.0, false);
  scaler.step(optimizer);
}

void mixed_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  set_gradients(model, scaler.scale(region_loss(model, batch)));
  end(model, optimizer, scaler, max_norm);
  scaler.update();
}

void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      amp::GradScaler& scaler, const std::vector<Batch>& window, double max_norm) {
  bool add = false;
  for (const auto& batch : window) {
    const auto loss = region_loss(model, batch) / static_cast<double>(window.size());
    set_gradients(model, scaler.scale(loss), add);
    add = true;
  }
  end(model, optimizer, scaler, max_norm);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  set_gradients(first.model, scaler.scale(region_loss(first.model, first.batch)));
  set_gradients(second.model, scaler.scale(region_loss(second.model, second.batch)));
  end(first.model, first.optimizer, scaler, max_norm);
  end(second.model, second.optimizer, scaler, max_norm);
  scaler.update();
}

bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  mixed_step(model, optimizer, scaler, batch, max_norm);
  // Kept through update.
  if (*scaler.view(optimizer).last_found_inf) return false;
  progress.follow(model);
  schedule.step();
  return true;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, lr);
  amp::GradScaler scaler;
  std::vector<Record> records;
  for (const auto& batch : batches) {
    const auto loss = region_loss(model, batch);
    set_gradients(model, scaler.scale(loss));
    const double scale = scaler.get_scale();
    scaler.unscale_(optimizer);
    const auto norm = amp::clip_grad_norm_(model.weights, max_norm);
    const bool stepped = scaler.step(optimizer);
    scaler.update();
    records.push_back({loss.item<double>(), norm.item<double>(), scale, stepped});
  }
  return records;
}

}  // namespace step_order
