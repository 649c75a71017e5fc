// The inputs of one run, drawn by the judge: named tensors, numbers, integers and words.
// An experiment reads them and gets fresh copies, so that no run can spoil another's inputs.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "protocol/frame.hpp"

namespace gradlab {

class Case {
 public:
  // Building. Each returns *this; a name that is there already gets one more tensor.
  Case& add(const std::string& name, torch::Tensor tensor);
  Case& number(const std::string& name, double value);
  Case& integer(const std::string& name, int64_t value);
  Case& word(const std::string& name, std::string value);
  // All tensors of that name at once, in place of those that are there.
  Case& set(const std::string& name, std::vector<torch::Tensor> tensors);
  // A parameter of the model: its value, and its gradient (undefined for none).
  Case& parameter(torch::Tensor value, torch::Tensor gradient, bool requires_grad = true);

  // Reading. Tensors are shared: the judge compares with them and does not change them.
  // Throws std::out_of_range for a name that is not there.
  const std::vector<torch::Tensor>& tensors(const std::string& name) const;
  double number(const std::string& name) const { return numbers_.at(name); }
  int64_t integer(const std::string& name) const { return integers_.at(name); }
  const std::string& word(const std::string& name) const { return words_.at(name); }
  // The gradients as given, undefined where a parameter has none.
  const std::vector<torch::Tensor>& gradients() const { return tensors("gradients"); }
  const std::vector<torch::Tensor>& parameter_values() const { return tensors("parameters"); }

  const std::map<std::string, std::vector<torch::Tensor>>& all_tensors() const { return tensors_; }
  const std::map<std::string, double>& all_numbers() const { return numbers_; }
  const std::map<std::string, int64_t>& all_integers() const { return integers_; }

  // Fresh parameters with fresh gradients of the same layout, for one run.
  std::vector<torch::Tensor> parameters() const;
  // Fresh copies of the tensors of that name.
  std::vector<torch::Tensor> copies(const std::string& name) const;

  // All elements of all gradients and named tensors: how large the case is to look at.
  int64_t element_count() const;

  // "one gradient [0.3], max_norm 1": the case in words, values shown where they are few.
  std::string describe() const;

  void write(nlohmann::json& head, std::string& body) const;
  static Case read(const nlohmann::json& head, const std::string& body);
  nlohmann::json to_json() const;
  static Case from_json(const nlohmann::json& json);

 private:
  std::map<std::string, std::vector<torch::Tensor>> tensors_;
  std::map<std::string, double> numbers_;
  std::map<std::string, int64_t> integers_;
  std::map<std::string, std::string> words_;
};

// The gradients that parameters hold now (not copies), undefined where there is none.
std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters);

}  // namespace gradlab
