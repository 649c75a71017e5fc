// Tensors on the wire: a small JSON description beside raw row-major bytes in the frame's body.
#pragma once

#include <torch/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gradlab::protocol {

// A description that does not fit the bytes, or names something unknown.
class MalformedTensor : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Collects tensors into one body. A tensor that looks at the same memory as an earlier one, in the
// same way, is written as a reference to it: an alias that changed in place costs nothing.
class TensorWriter {
 public:
  // The description of `tensor`: null for an undefined one.
  nlohmann::json add(const torch::Tensor& tensor);
  std::string take_body() { return std::move(body_); }

 private:
  std::vector<torch::Tensor> written_;
  std::string body_;
};

// Reads descriptions against a body that may be hostile. Throws MalformedTensor.
class TensorReader {
 public:
  explicit TensorReader(const std::string& body) : body_(body) {}
  torch::Tensor read(const nlohmann::json& description);

 private:
  const std::string& body_;
  std::vector<torch::Tensor> read_;
  uint64_t taken_ = 0;  // bytes of the body that tensors were made of
};

// A copy with memory of its own and the same strides, gaps between elements included; of an
// expanded tensor a contiguous one.
torch::Tensor copy_with_layout(const torch::Tensor& tensor);

// A tensor as JSON numbers ("inf", "-inf", "nan" as strings), for records; and back.
nlohmann::json to_json(const torch::Tensor& tensor);
torch::Tensor tensor_from_json(const nlohmann::json& json);

// A double as JSON: strings for what JSON has no number for; and back.
nlohmann::json number_to_json(double value);
double number_from_json(const nlohmann::json& json);

std::string dtype_name(torch::ScalarType dtype);

}  // namespace gradlab::protocol
