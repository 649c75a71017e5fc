// Which parameters a monitor looks at, and by what names it speaks of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::nn {
class Module;
}

namespace gradlab::monitor {

struct Parameter {
  std::string name;  // "weight"
  at::Tensor tensor;
};

struct Layer {
  std::string name;  // "encoder.0"; empty for the model's own parameters
  std::string kind;  // "Linear"
  std::vector<Parameter> parameters;
};

// The modules that directly hold a parameter that requires a gradient, in the model's order; all
// their direct parameters, frozen ones too. A module registered twice is one layer.
std::vector<Layer> layers_of(const torch::nn::Module& model);

// What a Monitor takes as its model: a module, a holder or pointer of one, or a list of layers for
// a model that is no torch::nn::Module.
class Model {
 public:
  Model(const torch::nn::Module& module) : layers_(layers_of(module)) {}
  template <typename Pointer,
            typename = std::enable_if_t<std::is_convertible_v<
                decltype(*std::declval<const Pointer&>()), const torch::nn::Module&>>>
  Model(const Pointer& pointer) : layers_(layers_of(*pointer)) {}
  Model(std::vector<Layer> layers) : layers_(std::move(layers)) {}

  const std::vector<Layer>& layers() const noexcept { return layers_; }

 private:
  std::vector<Layer> layers_;
};

}  // namespace gradlab::monitor
