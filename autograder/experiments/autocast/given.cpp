#include "given.hpp"

#include <new>

#include "protocol/tensors.hpp"
#include "thread_state.hpp"

namespace gradlab::autocast_lab {
namespace {

torch::Tensor layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                    bool as_module) {
  // The C++ nn::Linear hands on a view of its weight, which is never kept as a copy; its bias is.
  return as_module && bias.defined() ? torch::addmm(bias, x, weight.t())
                                     : at::linear(x, weight, bias);
}

std::vector<torch::Tensor> biases_of(const Case& in) {
  if (in.all_tensors().contains("bias vectors")) return in.copies("bias vectors");
  return std::vector<torch::Tensor>(in.tensors("weights").size());
}

struct Layers {
  std::vector<torch::Tensor> weights, biases;
  bool as_module;
  std::string throws;
  std::shared_ptr<Noticed> noticed;

  torch::Tensor operator()(const torch::Tensor& x) const {
    note(noticed->forward, region_in_words());
    auto h = layer(x, weights.front(), biases.front(), as_module);
    throw_as(throws);
    for (size_t i = 1; i < weights.size(); ++i) {
      h = layer(h.tanh(), weights[i], biases[i], as_module);
    }
    if (h.requires_grad()) {
      h.register_hook([seen = noticed](const torch::Tensor& gradient) {
        note(seen->backward, region_in_words());
        seen->output_gradient = gradient.detach().to(torch::kFloat32, false, true);
      });
    }
    return h;
  }
};

}  // namespace

void note(std::string& noticed, const std::string& state) {
  if (noticed == "never run") {
    noticed = state;
  } else if (noticed.find(state) == std::string::npos) {
    noticed += ", then " + state;
  }
}

Given::Given(const Case& in) : dtype(dtype_named(in.word("dtype"))) {
  Layers layers{in.copies("weights"), biases_of(in),
                word_or(in, "model", "linear") == "as nn::Linear", word_or(in, "throws", "nothing"),
                noticed};
  for (const auto* list : {&layers.weights, &layers.biases}) {
    for (const auto& parameter : *list) {
      if (parameter.defined()) model.parameters.push_back(parameter.requires_grad_(true));
    }
  }
  model.forward = layers;
  // A training of no steps has no such lists.
  if (in.all_tensors().contains("x")) {
    const auto x = in.copies("x"), y = in.copies("y");
    for (size_t i = 0; i < x.size(); ++i) batches.push_back({x[i], y[i]});
  }
  if (in.all_numbers().contains("old_gradients")) {
    for (auto& parameter : model.parameters) {
      parameter.mutable_grad() = torch::full_like(parameter, in.number("old_gradients"),
                                                  torch::TensorOptions().requires_grad(false));
    }
  }
}

torch::optim::SGD Given::sgd(const Case& in) const {
  torch::optim::SGDOptions options(in.number("learning_rate"));
  if (in.all_numbers().contains("weight_decay")) options.weight_decay(in.number("weight_decay"));
  const auto& all = model.parameters;
  if (word_or(in, "parameter groups", "one") == "one" || all.size() < 2)
    return torch::optim::SGD(all, options);
  const std::vector<torch::optim::OptimizerParamGroup> groups{
      torch::optim::OptimizerParamGroup({all.front()}),
      torch::optim::OptimizerParamGroup({all.begin() + 1, all.end()})};
  return torch::optim::SGD(groups, options);
}

std::string dtype_of(const torch::Tensor& tensor) {
  return tensor.defined() ? protocol::dtype_name(tensor.scalar_type()) : "none";
}

void run_backward(Observation& seen, const torch::Tensor& loss) {
  std::string went = "done";
  try {
    if (!loss.defined()) {
      went = "there is no loss";
    } else if (!loss.requires_grad()) {
      went = "the loss leads back to no parameter";
    } else {
      loss.backward();
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    went = "it threw: " + first_sentence(error.what());
  }
  seen.add_word("backward", went);
}

}  // namespace gradlab::autocast_lab
