#include "training_loop.hpp"

#include <torch/serialize.h>

#include <gradlab/amp/amp.hpp>

namespace amp = gradlab::amp;

namespace handout {

//! [loop]
Trained train(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
              const Batches& batches) {
  Trained result;
  amp::GradScaler scaler;  // one for the whole run, made before the loop
  for (const auto& [x, y] : batches) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss =
          torch::mse_loss(model->forward(x), y);  // float32, though the model's output is float16
    }
    scaler.scale(loss).backward();  // outside the region
    scaler.unscale_(optimizer);     // before the limit means anything
    amp::clip_grad_norm_(amp::parameters_of(optimizer), 1.0);
    if (!scaler.step(optimizer)) ++result.skipped;  // steps unless a gradient was inf or NaN
    scaler.update();                                // always, after a skip above all
    result.losses.push_back(loss.item<double>());
  }
  return result;
}
//! [loop]

//! [schedule]
void train_on_schedule(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                       torch::optim::LRScheduler& schedule, const Batches& batches) {
  amp::GradScaler scaler;
  for (const auto& [x, y] : batches) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(model->forward(x), y);
    }
    scaler.scale(loss).backward();
    amp::unscale_and_clip_(scaler, optimizer, 1.0);
    if (scaler.step(optimizer)) schedule.step();  // false where the step was skipped
    scaler.update();
  }
}
//! [schedule]

//! [accumulate]
int64_t train_in_halves(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                        const Batches& batches) {
  constexpr int64_t kParts = 2;
  amp::GradScaler scaler;
  for (const auto& [x, y] : batches) {
    optimizer.zero_grad();
    for (int64_t part = 0; part < kParts; ++part) {
      torch::Tensor loss;
      {
        const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
        loss =
            torch::mse_loss(model->forward(x.chunk(kParts)[part]), y.chunk(kParts)[part]) / kParts;
      }
      scaler.scale(loss).backward();  // adds up at one scale
    }
    amp::unscale_and_clip_(scaler, optimizer, 1.0);  // once a window, in one pass
    scaler.step(optimizer);
    scaler.update();  // at the window's end only
  }
  return scaler.view(optimizer).steps_taken;
}
//! [accumulate]

//! [two]
void train_two(torch::nn::Sequential& first, torch::optim::Optimizer& first_optimizer,
               torch::nn::Sequential& second, torch::optim::Optimizer& second_optimizer,
               const Batches& batches) {
  amp::GradScaler scaler;
  for (const auto& [x, y] : batches) {
    first_optimizer.zero_grad();
    second_optimizer.zero_grad();
    torch::Tensor first_loss, second_loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      const auto a = first->forward(x), b = second->forward(x);
      first_loss = torch::mse_loss(a + b, y);
      second_loss = torch::mse_loss(a - b, y);
    }
    scaler.scale(first_loss).backward({}, /*retain_graph=*/true);
    scaler.scale(second_loss).backward();
    scaler.step(first_optimizer);  // each skips on its own
    scaler.step(second_optimizer);
    scaler.update();  // once, after all of them
  }
}
//! [two]

std::string save_and_load(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                          const std::string& folder) {
  amp::GradScaler scaler;
  scaler.scale(torch::ones({}));
  scaler.update(512.0);
  //! [checkpoint]
  torch::save(model, folder + "/model.pt");  // all three, after update
  torch::save(optimizer, folder + "/optimizer.pt");
  torch::save(scaler, folder + "/scaler.pt");

  amp::GradScaler resumed;  // first made, then loaded
  torch::load(resumed, folder + "/scaler.pt");
  //! [checkpoint]
  return amp::to_json(resumed);
}

//! [observer]
class Trace : public amp::Observer {
 public:
  void begin(const amp::Event& event) noexcept override {
    calls.emplace_back(amp::name(event.call));
  }
  void end(const amp::Event&) noexcept override {}

  std::vector<std::string> calls;
};
//! [observer]

std::vector<std::string> watched(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                                 const Batches& batches) {
  Trace trace;
  const amp::ObserverScope scope(trace);
  train(model, optimizer, {batches.front()});
  return trace.calls;
}

}  // namespace handout
