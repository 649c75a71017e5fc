// Clips with its own loops in double, and decides on the norm whether the optimizer steps.
#include <cmath>

#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;

static double norm_of(const std::vector<torch::Tensor>& weights) {
  double sum = 0;
  for (const auto& w : weights) {
    if (!w.grad().defined()) continue;
    auto g = w.grad().to(torch::kDouble).contiguous();
    const double* p = g.data_ptr<double>();
    for (int64_t i = 0; i < g.numel(); i++) sum += p[i] * p[i];
  }
  return std::sqrt(sum);
}

static double clip(const std::vector<torch::Tensor>& weights, double max_norm) {
  double norm = norm_of(weights);
  if (std::isfinite(norm) && norm > max_norm) {
    for (const auto& w : weights) {
      if (w.grad().defined()) w.grad().mul_(max_norm / norm);
    }
  }
  return norm;
}

static void backward(const Model& model, amp::GradScaler& scaler, const Batch& batch, double part,
                     double* loss_out = nullptr) {
  torch::Tensor loss;
  {
    amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
    loss = torch::mse_loss(model.forward(batch.x), batch.y);
  }
  if (loss_out) *loss_out = loss.item<double>();
  scaler.scale(loss * part).backward();
}

static bool step_if_finite(const Model& model, torch::optim::Optimizer& optimizer,
                           amp::GradScaler& scaler, double max_norm, double* norm_out = nullptr) {
  scaler.unscale_(optimizer);
  double norm = clip(model.weights, max_norm);
  if (norm_out) *norm_out = norm;
  bool finite = std::isfinite(norm);
  if (finite) optimizer.step();
  return finite;
}

void mixed_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  optimizer.zero_grad();
  backward(model, scaler, batch, 1.0);
  step_if_finite(model, optimizer, scaler, max_norm);
  scaler.update();
}

void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      amp::GradScaler& scaler, const std::vector<Batch>& window, double max_norm) {
  optimizer.zero_grad();
  for (auto& batch : window) backward(model, scaler, batch, 1.0 / double(window.size()));
  step_if_finite(model, optimizer, scaler, max_norm);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  first.optimizer.zero_grad();
  backward(first.model, scaler, first.batch, 1.0);
  step_if_finite(first.model, first.optimizer, scaler, max_norm);
  second.optimizer.zero_grad();
  backward(second.model, scaler, second.batch, 1.0);
  step_if_finite(second.model, second.optimizer, scaler, max_norm);
  scaler.update();
}

bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  optimizer.zero_grad();
  backward(model, scaler, batch, 1.0);
  bool ok = step_if_finite(model, optimizer, scaler, max_norm);
  scaler.update();
  if (ok) {
    progress.follow(model);
    schedule.step();
  }
  return ok;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, torch::optim::SGDOptions(lr));
  amp::GradScaler scaler;
  std::vector<Record> records;
  for (auto& batch : batches) {
    Record r{};
    optimizer.zero_grad();
    backward(model, scaler, batch, 1.0, &r.loss);
    r.scale = scaler.get_scale();
    r.stepped = step_if_finite(model, optimizer, scaler, max_norm, &r.norm);
    scaler.update();
    records.push_back(r);
  }
  return records;
}

}  // namespace step_order
