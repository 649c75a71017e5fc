#include <ATen/ATen.h>

#include <map>
#include <stdexcept>

#include "support/ops.hpp"

namespace golden {
namespace {

at::Tensor filled(const std::string& fill, const std::vector<int64_t>& shape) {
  if (fill == "half") return at::full(shape, 0.5);
  if (fill == "quarter") return at::full(shape, 0.25);
  if (fill == "one") return at::ones(shape);
  if (fill == "zero") return at::zeros(shape);
  if (fill == "eye") return at::eye(shape.back()).expand(shape).clone();
  const at::Tensor like = at::empty(shape);
  return at::arange(1, 1 + like.numel()).reshape(shape) / 8.0;
}

// The dtype of an input that has none of its own; `first` of the inputs without.
at::ScalarType dtype_in(const std::string& variant, at::ScalarType low, bool first) {
  const auto other = low == at::kHalf ? at::kBFloat16 : at::kHalf;
  const std::map<std::string, std::pair<at::ScalarType, at::ScalarType>> all = {
      {"f32", {at::kFloat, at::kFloat}},   {"low", {low, low}},
      {"other", {other, other}},           {"f64", {at::kDouble, at::kDouble}},
      {"low_then_f32", {low, at::kFloat}}, {"f32_then_low", {at::kFloat, low}},
      {"low_then_other", {low, other}},    {"f32_then_f64", {at::kFloat, at::kDouble}}};
  const auto& [begin, rest] = all.at(variant);
  return first ? begin : rest;
}

std::vector<at::Tensor> inputs_of(const Json& specs, const std::string& variant,
                                  at::ScalarType low) {
  std::vector<at::Tensor> inputs;
  bool first = true;
  for (const Json& spec : specs) {
    const at::Tensor value = filled(spec.at("fill"), spec.at("shape").get<std::vector<int64_t>>());
    if (spec.contains("dtype")) {
      inputs.push_back(value.to(dtype(spec.at("dtype"))));
      continue;
    }
    inputs.push_back(value.to(dtype_in(variant, low, first)));
    first = false;
  }
  return inputs;
}

}  // namespace

const Op& op(const std::string& name) {
  for (const Op& one : ops()) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no op " + name);
}

std::string outcome(const Op& op, const Json& spec, const std::string& variant,
                    at::ScalarType low) {
  const auto inputs = inputs_of(spec.at("inputs"), variant, low);
  const at::NoGradGuard no_grad;
  try {
    return dtype_name(op.run(inputs).scalar_type());
  } catch (const c10::Error& error) {
    // With its backtrace the text takes a tenth of a second.
    const std::string text = error.what_without_backtrace();
    return text.find("autocast::prioritize") != std::string::npos ? "error_prioritize" : "error";
  }
}

}  // namespace golden
