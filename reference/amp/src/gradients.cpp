#include "gradients.hpp"

#include <ATen/MemoryOverlap.h>

#include <cmath>

#include "errors.hpp"

namespace gradlab::amp {
namespace {

bool same_group(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.device() == b.device();
}

std::string place_of_parameter(size_t index) {
  return "the gradient of parameter " + std::to_string(index);
}

}  // namespace

void check_gradient(const at::Tensor& gradient, Place place, size_t index) {
  if (!gradient.defined()) throw errors::undefined_tensor(place(index));
  if (!at::isFloatingType(gradient.scalar_type()) && !at::isComplexType(gradient.scalar_type())) {
    throw errors::integer_gradient(place(index), gradient);
  }
  if (gradient.layout() != at::kStrided) throw errors::unsupported_layout(place(index), gradient);
  if (!gradient.is_non_overlapping_and_dense() &&
      at::has_internal_overlap(gradient) == at::MemOverlap::Yes) {
    throw errors::overlapping_memory(place(index), gradient);
  }
}

Tensors checked_gradients_of(at::TensorList parameters) {
  Tensors gradients;
  gradients.reserve(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].defined()) {
      throw errors::undefined_tensor("parameter " + std::to_string(i));
    }
    const at::Tensor& gradient = parameters[i].grad();
    if (!gradient.defined()) continue;
    check_gradient(gradient, place_of_parameter, i);
    gradients.push_back(gradient);
  }
  return gradients;
}

void check_norm_type(at::TensorList gradients, double norm_type) {
  if (!std::isinf(norm_type)) return;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].numel() > 0) continue;
    throw errors::infinity_norm_of_empty("gradient " + std::to_string(i), norm_type);
  }
}

bool foreach_is_faster(const at::Device& device) { return !device.is_cpu(); }

void for_each_group(at::TensorList tensors, c10::function_ref<void(at::TensorList)> visit) {
  size_t same = 0;
  while (same < tensors.size() && same_group(tensors[same], tensors[0])) ++same;
  if (same == tensors.size()) {
    if (same > 0) visit(tensors);
    return;
  }
  std::vector<Tensors> groups;
  for (const at::Tensor& tensor : tensors) {
    size_t at = 0;
    while (at < groups.size() && !same_group(groups[at][0], tensor)) ++at;
    if (at == groups.size()) groups.emplace_back();
    groups[at].push_back(tensor);
  }
  for (const Tensors& group : groups) visit(group);
}

}  // namespace gradlab::amp
