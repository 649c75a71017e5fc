// One helper for all tasks: a lambda of what is inside the region, gradients cleared at the end.
#include <initializer_list>

#include "step_order.hpp"

namespace step_order {
namespace {

namespace amp = gradlab::amp;
using torch::optim::Optimizer;

template <typename Body>
auto in_float16(Body body) {
  amp::AutocastGuard region(at::kCPU, at::kHalf);
  return body();
}

struct Outcome {
  torch::Tensor loss;
  torch::Tensor norm;
  double scale;
  bool stepped;
};

Outcome iterate(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                const std::vector<Batch>& batches, double max_norm) {
  Outcome out;
  for (size_t i = 0; i < batches.size(); i++) {
    out.loss = in_float16([&] {
      return at::mse_loss(model.forward(batches[i].x), batches[i].y) / (double)batches.size();
    });
    scaler.scale(out.loss).backward();
  }
  out.scale = scaler.get_scale();
  scaler.unscale_(optimizer);
  out.norm = amp::clip_grad_norm_(amp::parameters_of(optimizer), max_norm);
  out.stepped = scaler.step(optimizer);
  scaler.update();
  optimizer.zero_grad();
  return out;
}

}  // namespace

void mixed_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  iterate(model, optimizer, scaler, {batch}, max_norm);
}

void accumulated_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                      const std::vector<Batch>& window, double max_norm) {
  iterate(model, optimizer, scaler, window, max_norm);
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  auto sides = {first, second};
  for (auto& side : sides) {
    auto loss =
        in_float16([&] { return at::mse_loss(side.model.forward(side.batch.x), side.batch.y); });
    scaler.scale(loss).backward();
  }
  for (auto& side : sides) {
    scaler.unscale_(side.optimizer);
    amp::clip_grad_norm_(side.model.weights, max_norm);
  }
  for (auto& side : sides) scaler.step(side.optimizer);
  scaler.update();
  for (auto& side : sides) side.optimizer.zero_grad(false);
}

bool scheduled_step(const Model& model, Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  auto out = iterate(model, optimizer, scaler, {batch}, max_norm);
  if (!out.stepped) return false;
  schedule.step();
  progress.follow(model);
  return true;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer(model.weights, lr);
  amp::GradScaler scaler;
  std::vector<Record> log;
  for (auto& batch : batches) {
    auto out = iterate(model, optimizer, scaler, {batch}, max_norm);
    log.push_back({out.loss.item<double>(), out.norm.item<double>(), out.scale, out.stepped});
  }
  return log;
}

}  // namespace step_order
