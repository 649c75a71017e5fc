// Wrong: the record holds the scale after update, the next batch's, and not the one that this loss
// was multiplied by.
// In task 5.
#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;

namespace {

// One model's way from the loss to the step; update is the caller's.
class Step {
 public:
  Step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler)
      : model_(model), optimizer_(optimizer), scaler_(scaler) {
    optimizer_.zero_grad();
  }

  double backward(const Batch& batch, double weight = 1.0) {
    torch::Tensor loss;
    {
      amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      torch::Tensor prediction = model_.forward(batch.x);
      loss = torch::mse_loss(prediction, batch.y);
    }
    scaler_.scale(loss * weight).backward();
    return loss.item<double>();
  }

  bool finish(double max_norm) {
    norm_ = amp::unscale_and_clip_(scaler_, optimizer_, max_norm).item<double>();
    return scaler_.step(optimizer_);
  }

  double norm() const { return norm_; }

 private:
  const Model& model_;
  torch::optim::Optimizer& optimizer_;
  amp::GradScaler& scaler_;
  double norm_ = 0;
};

}  // namespace

void mixed_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  Step step(model, optimizer, scaler);
  step.backward(batch);
  step.finish(max_norm);
  scaler.update();
}

void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      amp::GradScaler& scaler, const std::vector<Batch>& window, double max_norm) {
  Step step(model, optimizer, scaler);
  for (const Batch& part : window) step.backward(part, 1.0 / window.size());
  step.finish(max_norm);
  scaler.update();
}

void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  Step a(first.model, first.optimizer, scaler);
  Step b(second.model, second.optimizer, scaler);
  a.backward(first.batch);
  b.backward(second.batch);
  a.finish(max_norm);
  b.finish(max_norm);
  scaler.update();
}

bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  Step step(model, optimizer, scaler);
  step.backward(batch);
  const bool taken = step.finish(max_norm);
  if (taken) {
    progress.follow(model);
    schedule.step();
  }
  scaler.update();
  return taken;
}

std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  torch::optim::SGD sgd(model.weights, lr);
  amp::GradScaler scaler;
  std::vector<Record> run;
  for (const Batch& batch : batches) {
    Step step(model, sgd, scaler);
    const double loss = step.backward(batch);
    const bool taken = step.finish(max_norm);
    scaler.update();
    run.push_back({loss, step.norm(), scaler.get_scale(), taken});
  }
  return run;
}

}  // namespace step_order
