#include "parameter_table.hpp"

#include <torch/optim/optimizer.h>

#include <algorithm>

#include "errors.hpp"

namespace gradlab::monitor {
namespace {

bool chosen(const std::vector<std::string>& patterns, const std::string& name) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const auto& one) { return matches(one, name); });
}

void check_patterns(const std::vector<std::string>& patterns, const std::vector<Layer>& layers) {
  for (const std::string& pattern : patterns) {
    const bool any = std::any_of(layers.begin(), layers.end(),
                                 [&](const Layer& layer) { return matches(pattern, layer.name); });
    if (!any) throw errors::no_layer_matches(pattern, layers.front().name);
  }
}

}  // namespace

bool matches(const std::string& pattern, const std::string& name) {
  size_t p = 0, n = 0, star = std::string::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string::npos;
}

ParameterTable::ParameterTable(const std::vector<Layer>& layers, const Options& options) {
  const bool plain = options.rules == Rules::kPlain;
  if (layers.empty()) throw errors::no_parameters();
  check_patterns(options.layers, layers);
  for (const Layer& layer : layers) {
    TableLayer own{layer.name, layer.kind, {}};
    for (const Parameter& parameter : layer.parameters) {
      const std::string name =
          layer.name.empty() ? parameter.name : layer.name + "." + parameter.name;
      if (!parameter.tensor.defined()) throw errors::undefined_parameter(name);
      const auto [place, is_new] = place_of(parameter.tensor, name);
      if (is_new || plain) own.parameters.push_back(place);
    }
    if (!own.parameters.empty() && chosen(options.layers, layer.name)) {
      layers_.push_back(std::move(own));
    }
  }
  if (parameters_.empty()) throw errors::no_parameters();
}

std::pair<size_t, bool> ParameterTable::place_of(const at::Tensor& tensor,
                                                 const std::string& name) {
  const auto [found, is_new] = places_.emplace(tensor.unsafeGetTensorImpl(), parameters_.size());
  if (is_new) parameters_.push_back({name, tensor, kNoOptimizer, 1});
  return {found->second, is_new};
}

void ParameterTable::own(const torch::optim::Optimizer& optimizer, int number) {
  for (size_t g = 0; g < optimizer.param_groups().size(); ++g) {
    const auto& group = optimizer.param_groups()[g].params();
    for (size_t i = 0; i < group.size(); ++i) {
      const std::string name = "parameter " + std::to_string(i) + " of group " + std::to_string(g) +
                               " of optimizer " + std::to_string(number);
      parameters_[place_of(group[i], name).first].optimizer = number;
    }
  }
}

void ParameterTable::clipped(at::TensorList tensors, double coefficient) {
  for (const at::Tensor& tensor : tensors) {
    const auto found = places_.find(tensor.unsafeGetTensorImpl());
    if (found != places_.end()) parameters_[found->second].coefficient *= coefficient;
  }
}

void ParameterTable::forget_clipping() {
  for (TableParameter& parameter : parameters_) parameter.coefficient = 1;
}

bool ParameterTable::has(const at::Tensor& parameter) const {
  return places_.count(parameter.unsafeGetTensorImpl()) != 0;
}

}  // namespace gradlab::monitor
