// The parameters that are looked at, each once, and who owns them: layers and optimizers.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "gradlab/monitor/layers.hpp"
#include "gradlab/monitor/options.hpp"

namespace torch::optim {
class Optimizer;
}

namespace gradlab::monitor {

constexpr int kNoOptimizer = -1;

struct TableParameter {
  std::string name;  // "encoder.0.weight"
  at::Tensor tensor;
  int optimizer = kNoOptimizer;
  double coefficient = 1;  // that a clip before the check multiplied the gradient by
};

struct TableLayer {
  std::string name, kind;
  std::vector<size_t> parameters;  // places in the table
};

class ParameterTable {
 public:
  // Layers whose names match options.layers. In the plain rule set a parameter tied into two layers
  // counts in both, else in the first. THROWS Error kNoParameters, kNoLayerMatches.
  ParameterTable(const std::vector<Layer>& layers, const Options& options);

  // Notes whose parameters the optimizer's are; those that no layer has are looked at too.
  void own(const torch::optim::Optimizer& optimizer, int number);

  const std::vector<TableParameter>& parameters() const noexcept { return parameters_; }
  const std::vector<TableLayer>& layers() const noexcept { return layers_; }
  bool has(const at::Tensor& parameter) const;

  // The gradients of those of `tensors` that are in the table were multiplied.
  void clipped(at::TensorList tensors, double coefficient);
  void forget_clipping();

 private:
  // The place, and whether it is new.
  std::pair<size_t, bool> place_of(const at::Tensor& tensor, const std::string& name);

  std::vector<TableParameter> parameters_;
  std::vector<TableLayer> layers_;
  std::unordered_map<const void*, size_t> places_;
};

// Whether the whole of `name` matches; `*` is any text, `?` one character.
bool matches(const std::string& pattern, const std::string& name);

}  // namespace gradlab::monitor
