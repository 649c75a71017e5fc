// The order of a mixed-precision step: your answers. The contract is step_order.hpp, with the
// float32 step that you begin with; the story is handouts/step_order.md. Replace each todo() by
// your code; write helpers wherever you like.
#include "step_order.hpp"

namespace step_order {

namespace amp = gradlab::amp;  // AutocastGuard, GradScaler, clip_grad_norm_

// Task 1: one whole step in mixed precision.
void mixed_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                const Batch& batch, double max_norm) {
  gradlab::todo("step_order.1", model, optimizer, scaler, batch, max_norm);
}

// Task 2: one step from a window of micro-batches.
void accumulated_step(const Model& model, torch::optim::Optimizer& optimizer,
                      amp::GradScaler& scaler, const std::vector<Batch>& window, double max_norm) {
  gradlab::todo("step_order.2", model, optimizer, scaler, window, max_norm);
}

// Task 3: two models, two optimizers, one scaler.
void two_optimizer_step(const Side& first, const Side& second, amp::GradScaler& scaler,
                        double max_norm) {
  gradlab::todo("step_order.3", first, second, scaler, max_norm);
}

// Task 4: as task 1, with a schedule and a moving average that wait when the step is skipped.
bool scheduled_step(const Model& model, torch::optim::Optimizer& optimizer, amp::GradScaler& scaler,
                    torch::optim::LRScheduler& schedule, Progress& progress, const Batch& batch,
                    double max_norm) {
  return gradlab::todo("step_order.4", model, optimizer, scaler, schedule, progress, batch,
                       max_norm);
}

// Task 5: a whole run, and a record of every batch.
std::vector<Record> train(const Model& model, const std::vector<Batch>& batches, double lr,
                          double max_norm) {
  return gradlab::todo("step_order.5", model, batches, lr, max_norm);
}

}  // namespace step_order
