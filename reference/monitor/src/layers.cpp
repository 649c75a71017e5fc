#include "gradlab/monitor/layers.hpp"

#include <torch/nn/module.h>

#include <unordered_set>

namespace gradlab::monitor {
namespace {

// "torch::nn::LinearImpl" as "Linear".
std::string kind_of(const torch::nn::Module& module) {
  std::string kind = module.name();
  const size_t colon = kind.rfind("::");
  if (colon != std::string::npos) kind.erase(0, colon + 2);
  const std::string ending = "Impl";
  if (kind.size() > ending.size() && kind.rfind(ending) == kind.size() - ending.size()) {
    kind.erase(kind.size() - ending.size());
  }
  return kind;
}

class Walk {
 public:
  void visit(const torch::nn::Module& module, const std::string& name) {
    if (!seen_.insert(&module).second) return;
    Layer layer{name, "", {}};
    bool trained = false;
    for (const auto& item : module.named_parameters(/*recurse=*/false)) {
      layer.parameters.push_back({item.key(), item.value()});
      trained = trained || item.value().requires_grad();
    }
    if (trained) {
      layer.kind = kind_of(module);
      layers.push_back(std::move(layer));
    }
    for (const auto& item : module.named_children()) {
      visit(*item.value(), name.empty() ? item.key() : name + "." + item.key());
    }
  }

  std::vector<Layer> layers;

 private:
  std::unordered_set<const torch::nn::Module*> seen_;
};

}  // namespace

std::vector<Layer> layers_of(const torch::nn::Module& model) {
  Walk walk;
  walk.visit(model, "");
  return std::move(walk.layers);
}

}  // namespace gradlab::monitor
