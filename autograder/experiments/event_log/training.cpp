#include "experiments/event_log/training.hpp"

#include <torch/optim/sgd.h>

namespace gradlab::event_log_runs {
namespace {

torch::Tensor in_a_row(const std::vector<torch::Tensor>& tensors) {
  std::vector<torch::Tensor> flat;
  for (const auto& tensor : tensors) flat.push_back(tensor.detach().flatten());
  return torch::cat(flat).clone();
}

// Keeps the gradients that it steps with.
class WatchedSgd : public torch::optim::SGD {
 public:
  WatchedSgd(const std::vector<torch::optim::OptimizerParamGroup>& groups,
             torch::optim::SGDOptions options, torch::Tensor& stepped_with)
      : SGD(groups, std::move(options)), stepped_with_(stepped_with) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    std::vector<torch::Tensor> gradients;
    for (const auto& parameter : amp::parameters_of(*this)) {
      gradients.push_back(parameter.grad().defined() ? parameter.grad()
                                                     : torch::zeros_like(parameter));
    }
    stepped_with_ = in_a_row(gradients);
    return SGD::step(std::move(closure));
  }

 private:
  torch::Tensor& stepped_with_;
};

// Multiplies the learning rate of every group by `decay` each time it advances.
class Decay : public torch::optim::LRScheduler {
 public:
  Decay(torch::optim::Optimizer& optimizer, double decay) : LRScheduler(optimizer), decay_(decay) {}

 private:
  std::vector<double> get_lrs() override {
    auto rates = get_current_lrs();
    for (auto& rate : rates) rate *= decay_;
    return rates;
  }

  double decay_;
};

std::vector<torch::Tensor> weights_of(const Case& in, int64_t count) {
  const auto first = std::min(in.integer("weights_in_first_group"), count);
  std::vector<torch::Tensor> groups;
  for (const auto size : {first, count - first}) {
    if (size > 0) groups.push_back(torch::ones({size}).requires_grad_(true));
  }
  return groups;
}

std::unique_ptr<torch::optim::Optimizer> optimizer_of(const Case& in,
                                                      const std::vector<torch::Tensor>& weights,
                                                      torch::Tensor& stepped_with) {
  std::vector<torch::optim::OptimizerParamGroup> groups;
  double lr = in.number("lr");
  for (const auto& tensor : weights) {
    groups.emplace_back(std::vector<torch::Tensor>{tensor},
                        std::make_unique<torch::optim::SGDOptions>(lr));
    lr *= 4;  // each group has a rate of its own
  }
  return std::make_unique<WatchedSgd>(groups, torch::optim::SGDOptions(in.number("lr")),
                                      stepped_with);
}

amp::GradScaler scaler_of(const Case& in) {
  amp::GradScalerOptions options;
  options.enabled = in.all_integers().contains("init_scale");
  if (options.enabled) {
    options.init_scale = static_cast<double>(in.integer("init_scale"));
    options.growth_interval = in.integer("growth_interval");
  }
  return amp::GradScaler(options);
}

}  // namespace

Training::Training(const Case& in)
    : gradients_(in.copies("gradients")),
      losses_(in.copies("losses")),
      groups_(weights_of(in, gradients_.front().numel())),
      optimizer_(optimizer_of(in, groups_, stepped_with_)),
      scaler_(scaler_of(in)),
      schedule_(std::make_unique<Decay>(*optimizer_, in.number("decay"))) {
  if (in.all_numbers().contains("max_norm")) max_norm_ = in.number("max_norm");
}

event_log::Loop Training::loop() { return {*optimizer_, scaler_, *schedule_, max_norm_}; }

torch::Tensor Training::loss(size_t step) const {
  auto loss = losses_[step];
  int64_t from = 0;
  for (const auto& weights : groups_) {
    const auto gradient = gradients_[step].narrow(0, from, weights.numel());
    const auto product = (weights.to(torch::kHalf).to(torch::kFloat32) * gradient).sum();
    // 0 in value, all of the product in its gradient.
    loss = loss + (product - product.detach());
    from += weights.numel();
  }
  return loss;
}

torch::Tensor Training::weights() const { return in_a_row(groups_); }

double Training::lr() const { return optimizer_->param_groups().front().options().get_lr(); }

torch::Tensor Training::take_stepped_gradients() { return std::exchange(stepped_with_, {}); }

}  // namespace gradlab::event_log_runs
