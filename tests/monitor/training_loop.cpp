#include "training_loop.hpp"

#include <torch/nn/functional/loss.h>
#include <torch/serialize.h>

#include <gradlab/amp/amp.hpp>
#include <gradlab/monitor/monitor.hpp>
#include <gradlab/monitor/state.hpp>

namespace amp = gradlab::amp;

namespace shown {

//! [loop]
gradlab::monitor::Counts train(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
                               const Batches& batches, const std::string& path) {
  amp::GradScaler scaler;
  gradlab::monitor::Options options;
  options.scaler = &scaler;
  options.path = path;  // JSON lines; none where empty
  gradlab::monitor::Monitor monitor(model, optimizer, options);
  for (const auto& [x, y] : batches) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(model->forward(x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    monitor.step(loss);  // after backward and unscale_, before clip and step
    amp::clip_grad_norm_(amp::parameters_of(optimizer), 1.0);
    scaler.step(optimizer);
    scaler.update();  // the step's line is written here
  }
  monitor.close();
  return monitor.counts();
}
//! [loop]

std::vector<std::string> train_plain(torch::nn::Sequential& model,
                                     torch::optim::Optimizer& optimizer, const Batches& batches) {
  std::vector<std::string> told;
  //! [callback]
  gradlab::monitor::Options options;
  options.on_event = [&](const gradlab::monitor::Event& event) { told.push_back(event.name); };
  gradlab::monitor::Monitor monitor(model, optimizer, options);
  for (const auto& [x, y] : batches) {
    optimizer.zero_grad();
    const auto loss = torch::mse_loss(model->forward(x), y);
    loss.backward();
    monitor.step(loss);
    optimizer.step();
  }
  //! [callback]
  return told;
}

int64_t resume(torch::nn::Sequential& model, torch::optim::Optimizer& optimizer,
               const std::string& folder) {
  gradlab::monitor::Monitor monitor(model, optimizer);
  monitor.step();
  //! [checkpoint]
  torch::save(monitor, folder + "/monitor.pt");  // beside model, optimizer and scaler, after update

  gradlab::monitor::Monitor resumed(model, optimizer);  // first made, then loaded
  torch::load(resumed, folder + "/monitor.pt");
  //! [checkpoint]
  return resumed.steps();
}

}  // namespace shown
