// The forward in the region; the loss outside, on an output made float32 by hand. Steps are counted
// by the scaler's view.
#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;

namespace {

torch::Tensor loss_of(const Model& m, const Batch& b) {
  torch::Tensor out;
  {
    const amp::AutocastGuard half(torch::kCPU, torch::kHalf, /*enabled=*/true);
    out = m.forward(b.x);
  }
  return torch::mse_loss(out.to(torch::kFloat32), b.y);
}

class Loop {
 public:
  Loop(const Model& m, torch::optim::Optimizer& o, amp::GradScaler& s, double limit)
      : model_(m), optimizer_(o), scaler_(s), limit_(limit) {}

  void clear() {
    for (auto w : model_.weights) w.mutable_grad() = torch::Tensor();
  }
  void add(const torch::Tensor& loss) { scaler_.scale(loss).backward(); }
  double clip() {
    scaler_.unscale_(optimizer_);
    amp::ClipOptions options;
    options.norm_type = 2.0;
    return amp::clip_grad_norm_(model_.weights, limit_, options).item<double>();
  }
  bool advance() {
    const auto before = scaler_.view(optimizer_).steps_taken;
    scaler_.step(optimizer_);
    return scaler_.view(optimizer_).steps_taken != before;
  }

 private:
  const Model& model_;
  torch::optim::Optimizer& optimizer_;
  amp::GradScaler& scaler_;
  double limit_;
};

}  // namespace

void mixed_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  Loop loop(model, optimizer, scaler, max_norm);
  loop.clear();
  loop.add(loss_of(model, batch));
  loop.clip();
  loop.advance();
  scaler.update();
}

void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      amp::GradScaler& scaler, const std::vector<Batch>& window, double max_norm) {
  Loop loop(model, optimizer, scaler, max_norm);
  loop.clear();
  for (auto it = window.begin(); it != window.end(); ++it) {
    loop.add(loss_of(model, *it) / (float)window.size());
  }
  loop.clip();
  loop.advance();
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  Loop a(first.model, first.optimizer, scaler, max_norm);
  Loop b(second.model, second.optimizer, scaler, max_norm);
  a.clear();
  b.clear();
  // One backward: each loss reaches its own model only.
  a.add(loss_of(first.model, first.batch) + loss_of(second.model, second.batch));
  a.clip();
  b.clip();
  b.advance();
  a.advance();
  scaler.update();
}

bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  Loop loop(model, optimizer, scaler, max_norm);
  loop.clear();
  loop.add(loss_of(model, batch));
  loop.clip();
  if (loop.advance()) {
    schedule.step();
    progress.follow(model);
    scaler.update();
    return true;
  }
  scaler.update();
  return false;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD optimizer({model.weights}, lr);
  amp::GradScaler scaler;
  Loop loop(model, optimizer, scaler, max_norm);
  std::vector<Record> records;
  for (const auto& b : batches) {
    const double scale = scaler.get_scale();
    loop.clear();
    const auto loss = loss_of(model, b);
    loop.add(loss);
    const double norm = loop.clip();
    const bool stepped = loop.advance();
    scaler.update();
    records.push_back(Record{loss.item<double>(), norm, scale, stepped});
  }
  return records;
}

}  // namespace step_order
