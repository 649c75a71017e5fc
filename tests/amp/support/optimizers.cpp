// Optimizers and scalers as golden data describes them.
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "support/scaler_player.hpp"

namespace golden {
namespace {

namespace amp = gradlab::amp;

template <typename Options>
std::vector<torch::optim::OptimizerParamGroup> groups_of(
    const Json& spec, const Options& defaults,
    const std::map<std::string, torch::Tensor>& parameters) {
  std::vector<torch::optim::OptimizerParamGroup> groups;
  for (const Json& group : spec.at("groups")) {
    std::vector<torch::Tensor> members;
    for (const std::string name : group.at("params")) members.push_back(parameters.at(name));
    auto options = std::make_unique<Options>(defaults);
    if (group.contains("lr")) options->lr(number(group.at("lr")));
    groups.emplace_back(members, std::move(options));
  }
  return groups;
}

}  // namespace

std::unique_ptr<torch::optim::Optimizer> optimizer_of(
    const Json& spec, const std::map<std::string, torch::Tensor>& parameters) {
  const double lr = number(spec.at("lr"));
  if (spec.at("type") == "sgd") {
    const auto options = torch::optim::SGDOptions(lr)
                             .momentum(number(spec.at("momentum")))
                             .weight_decay(number(spec.at("weight_decay")));
    return std::make_unique<torch::optim::SGD>(groups_of(spec, options, parameters), options);
  }
  const auto options = torch::optim::AdamWOptions(lr)
                           .betas({number(spec.at("betas").at(0)), number(spec.at("betas").at(1))})
                           .eps(number(spec.at("eps")))
                           .weight_decay(number(spec.at("weight_decay")));
  return std::make_unique<torch::optim::AdamW>(groups_of(spec, options, parameters), options);
}

amp::GradScalerOptions scaler_options_of(const Json& config) {
  amp::GradScalerOptions options;
  options.init_scale = number(config.at("init_scale"));
  options.growth_factor = number(config.at("growth_factor"));
  options.backoff_factor = number(config.at("backoff_factor"));
  options.growth_interval = config.at("growth_interval");
  options.enabled = config.at("enabled");
  return options;
}

}  // namespace golden
