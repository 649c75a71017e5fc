// Recursion over the window, one flat vector for the norm, a skip told by comparing weights.
#include "step_order.hpp"

namespace step_order {

using gradlab::amp::AutocastGuard;
using gradlab::amp::GradScaler;

namespace {

void add_from(size_t i, const Model& model, GradScaler& scaler, const std::vector<Batch>& window) {
  if (i == window.size()) return;
  torch::Tensor loss;
  {
    AutocastGuard autocast(torch::kCPU, torch::kHalf);
    loss = torch::mse_loss(model.forward(window[i].x), window[i].y);
  }
  scaler.scale(loss).div(static_cast<double>(window.size())).backward();
  add_from(i + 1, model, scaler, window);
}

double clip_flat(const Model& model, double max_norm) {
  std::vector<torch::Tensor> rows;
  for (const auto& w : model.weights) rows.push_back(w.grad().reshape({-1}));
  const double norm = torch::cat(rows).to(torch::kFloat64).norm().item<double>();
  if (norm > max_norm && norm < std::numeric_limits<double>::infinity()) {
    const double coefficient = max_norm / (norm + 1e-6);
    for (const auto& w : model.weights) w.grad().mul_(coefficient);
  }
  return norm;
}

void forget(const Model& model) {
  for (const auto& w : model.weights) {
    if (w.grad().defined()) w.grad().zero_();
  }
}

}  // namespace

void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer, GradScaler& scaler,
                      const std::vector<Batch>& window, double max_norm) {
  add_from(0, model, scaler, window);
  scaler.unscale_(optimizer);
  clip_flat(model, max_norm);
  scaler.step(optimizer);
  scaler.update();
  forget(model);
}

void mixed_step(const Model& model, torch::optim::Optimizer& optimizer, GradScaler& scaler,
                const Batch& batch, double max_norm) {
  accumulated_step(model, optimizer, scaler, std::vector<Batch>(1, batch), max_norm);
}

void two_optimizer_step(const Side& first, const Side& second, GradScaler& scaler,
                        double max_norm) {
  add_from(0, first.model, scaler, {first.batch});
  add_from(0, second.model, scaler, {second.batch});
  for (auto* side : {&first, &second}) {
    scaler.unscale_(side->optimizer);
    clip_flat(side->model, max_norm);
    scaler.step(side->optimizer);
    forget(side->model);
  }
  scaler.update();
}

bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer, GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  const auto skips = scaler.steps_skipped();
  mixed_step(model, optimizer, scaler, batch, max_norm);
  const bool stepped = scaler.steps_skipped() == skips;
  if (stepped) schedule.step();
  if (stepped) progress.follow(model);
  return stepped;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  std::vector<Record> records;
  auto optimizer = std::make_unique<torch::optim::SGD>(model.weights, torch::optim::SGDOptions(lr));
  auto scaler = std::make_unique<GradScaler>();
  for (size_t i = 0; i != batches.size(); ++i) {
    torch::Tensor loss;
    {
      AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(model.forward(batches.at(i).x), batches.at(i).y);
    }
    const double scale = scaler->get_scale();
    scaler->scale(loss).backward();
    scaler->unscale_(*optimizer);
    const double norm = clip_flat(model, max_norm);
    const bool stepped = scaler->step(*optimizer);
    scaler->update();
    forget(model);
    records.push_back({loss.item<double>(), norm, scale, stepped});
  }
  return records;
}

}  // namespace step_order
