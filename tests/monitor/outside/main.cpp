// A user's program: ten overflows, then training. It exits with 0 if the monitor told all of them.
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <gradlab/amp/amp.hpp>
#include <gradlab/monitor/monitor.hpp>
#include <iostream>

int main() {
  namespace amp = gradlab::amp;
  namespace monitor = gradlab::monitor;
  const auto x = torch::full({2, 4}, 10.0), y = torch::zeros({2, 1});
  const auto weight = torch::ones({1, 4}).set_requires_grad(true);
  torch::optim::SGD optimizer({weight}, torch::optim::SGDOptions(0.1));
  amp::GradScaler scaler;
  monitor::Options options;
  options.scaler = &scaler;
  options.path = "run.jsonl";
  options.mode = monitor::FileMode::kOverwrite;
  monitor::Monitor watch(std::vector<monitor::Layer>{{"linear", "Linear", {{"weight", weight}}}},
                         optimizer, options);
  for (int step = 0; step < 14; ++step) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(torch::linear(x, weight), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    watch.step(loss);
    amp::clip_grad_norm_(amp::parameters_of(optimizer), 1.0);
    scaler.step(optimizer);
    scaler.update();
  }
  watch.close();
  std::cout << watch.counts().skipped_steps << " skipped, last loss " << *watch.loss() << "\n";
  return watch.counts().skipped_steps == 10 && watch.norms().at(0).second == 1360 ? 0 : 1;
}
