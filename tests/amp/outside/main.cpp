// A user's program: the run that can be derived by hand. It exits with 0 if the scale ends at 64.
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <gradlab/amp/amp.hpp>
#include <iostream>

int main() {
  namespace amp = gradlab::amp;
  const auto x = torch::full({2, 4}, 10.0), y = torch::zeros({2, 1});
  const auto weight = torch::ones({1, 4}).set_requires_grad(true);
  torch::optim::SGD optimizer({weight}, torch::optim::SGDOptions(0.1));
  amp::GradScaler scaler;
  for (int step = 0; step < 12; ++step) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      const amp::AutocastGuard autocast(torch::kCPU, torch::kHalf);
      loss = torch::mse_loss(torch::linear(x, weight), y);
    }
    scaler.scale(loss).backward();
    if (step % 2 == 0) {
      amp::unscale_and_clip_(scaler, optimizer, 1.0);
    } else {
      scaler.unscale_(optimizer);
      amp::clip_grad_norm_(amp::parameters_of(optimizer), 1.0);
    }
    scaler.step(optimizer);
    scaler.update();
  }
  std::cout << amp::to_json(scaler) << ", " << scaler.steps_skipped() << " skipped\n";
  return scaler.get_scale() == 64 && scaler.steps_skipped() == 10 ? 0 : 1;
}
