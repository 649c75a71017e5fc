// unscale_and_clip_ in the place of two calls; everything else is the recipe.
#include <gradlab/amp/fused.hpp>

#include "step_order.hpp"

using namespace gradlab::amp;

static torch::Tensor forward_loss(const step_order::Model& model, const step_order::Batch& b) {
  AutocastGuard g(torch::kCPU, torch::kFloat16);
  auto prediction = model.forward(b.x);
  return torch::mse_loss(prediction, b.y);
}

void step_order::mixed_step(const Model& model, torch::optim::Optimizer& optimizer,
                            GradScaler& scaler, const Batch& batch, double max_norm) {
  optimizer.zero_grad();
  scaler.scale(forward_loss(model, batch)).backward();
  unscale_and_clip_(scaler, optimizer, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void step_order::accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                                  GradScaler& scaler, const std::vector<Batch>& window,
                                  double max_norm) {
  optimizer.zero_grad();
  for (const auto& b : window) {
    (scaler.scale(forward_loss(model, b)) / static_cast<int64_t>(window.size())).backward();
  }
  unscale_and_clip_(scaler, optimizer, max_norm);
  scaler.step(optimizer);
  scaler.update();
}

void step_order::two_optimizer_step(const Side& first, const Side& second, GradScaler& scaler,
                                    double max_norm) {
  for (const auto* s : {&first, &second}) {
    s->optimizer.zero_grad();
    scaler.scale(forward_loss(s->model, s->batch)).backward();
    unscale_and_clip_(scaler, s->optimizer, max_norm);
    scaler.step(s->optimizer);
  }
  scaler.update();
}

bool step_order::scheduled_step(const Model& model, torch::optim::Optimizer& optimizer,
                                GradScaler& scaler, torch::optim::LRScheduler& schedule,
                                Progress& progress, const Batch& batch, double max_norm) {
  double before = scaler.get_scale();
  mixed_step(model, optimizer, scaler, batch, max_norm);
  // Smaller, and not only different: it may have grown.
  bool skipped = scaler.get_scale() < before;
  if (!skipped) {
    schedule.step();
    progress.follow(model);
  }
  return !skipped;
}

std::vector<step_order::Record> step_order::train(const Model& model,
                                                  const std::vector<Batch>& batches, double lr,
                                                  double max_norm) {
  torch::optim::SGD sgd(model.weights, lr);
  GradScaler scaler;
  std::vector<Record> records(batches.size());
  for (size_t i = 0; i < batches.size(); ++i) {
    sgd.zero_grad();
    auto loss = forward_loss(model, batches[i]);
    auto scaled = scaler.scale(loss);
    records[i].scale = scaler.get_scale();
    scaled.backward();
    records[i].norm = unscale_and_clip_(scaler, sgd, max_norm).item().toDouble();
    records[i].stepped = scaler.step(sgd);
    records[i].loss = loss.item().toDouble();
    scaler.update();
  }
  return records;
}
