// LibTorch's own clip, and a windowed step that all tasks go through.
#include <torch/nn/utils/clip_grad.h>

#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;
namespace optim = torch::optim;

namespace {

struct Seen {
  double loss = 0;
  double norm = 0;
  bool stepped = false;
};

double add_gradients(const Model& model, amp::GradScaler& scaler,
                     const std::vector<Batch>& window) {
  double sum = 0;
  for (const auto& [x, y] : window) {
    torch::Tensor loss;
    {
      amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(model.forward(x), y);
      loss = loss / static_cast<double>(window.size());
    }
    sum += loss.item<double>();
    scaler.scale(loss).backward();
  }
  return sum;
}

Seen windowed(const Model& model, optim::Optimizer& optimizer, amp::GradScaler& scaler,
              const std::vector<Batch>& window, double max_norm, bool last = true) {
  Seen seen;
  optimizer.zero_grad();
  seen.loss = add_gradients(model, scaler, window);
  scaler.unscale_(optimizer);
  seen.norm = torch::nn::utils::clip_grad_norm_(model.weights, max_norm);
  seen.stepped = scaler.step(optimizer);
  if (last) scaler.update();
  return seen;
}

}  // namespace

void mixed_step(const Model& m, optim::Optimizer& o, amp::GradScaler& s, const Batch& b,
                double max_norm) {
  windowed(m, o, s, {b}, max_norm);
}

void accumulated_step(const Model& m, optim::Optimizer& o, amp::GradScaler& s,
                      const std::vector<Batch>& window, double max_norm) {
  windowed(m, o, s, window, max_norm);
}

void two_optimizer_step(const Side& a, const Side& b, amp::GradScaler& s, double max_norm) {
  windowed(a.model, a.optimizer, s, {a.batch}, max_norm, false);
  windowed(b.model, b.optimizer, s, {b.batch}, max_norm, true);
}

bool scheduled_step(const Model& m, optim::Optimizer& o, amp::GradScaler& s,
                    optim::LRScheduler& schedule, Progress& progress, const Batch& b,
                    double max_norm) {
  const Seen seen = windowed(m, o, s, {b}, max_norm);
  if (seen.stepped) {
    schedule.step();
    progress.follow(m);
  }
  return seen.stepped;
}

std::vector<Record> train(const Model& m, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  optim::SGD o(m.weights, lr);
  amp::GradScaler s;
  std::vector<Record> records;
  for (const auto& b : batches) {
    const double scale = s.get_scale();
    const Seen seen = windowed(m, o, s, {b}, max_norm);
    records.push_back({seen.loss, seen.norm, scale, seen.stepped});
  }
  return records;
}

}  // namespace step_order
