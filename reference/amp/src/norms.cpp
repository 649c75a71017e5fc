#include "norms.hpp"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace gradlab::amp {
namespace {

// The norms of all gradients, those of a group side by side.
Tensors norms_of(at::TensorList gradients, double norm_type) {
  Tensors norms;
  norms.reserve(gradients.size());
  for_each_group(gradients, [&](at::TensorList group) {
    if (foreach_is_faster(group[0].device())) {
      for (at::Tensor& norm : at::_foreach_norm(group, norm_type)) norms.push_back(std::move(norm));
      return;
    }
    for (const at::Tensor& gradient : group) {
      norms.push_back(at::linalg_vector_norm(gradient, norm_type));
    }
  });
  return norms;
}

}  // namespace

at::Tensor total_norm_of(at::TensorList gradients, double norm_type) {
  if (gradients.empty()) return at::zeros({}, at::kFloat);
  Tensors norms = norms_of(gradients, norm_type);
  const at::Device first = gradients[0].device();
  for (at::Tensor& norm : norms) {
    if (norm.device() != first) norm = norm.to(first, /*non_blocking=*/true);
  }
  return at::linalg_vector_norm(at::stack(norms), norm_type);
}

void multiply_by_coefficient(at::TensorList gradients, double max_norm,
                             const at::Tensor& total_norm) {
  const at::Tensor coefficient =
      total_norm.add(kClipEpsilon).reciprocal_().mul_(max_norm).clamp_max_(1.0);
  for_each_group(gradients, [&](at::TensorList group) {
    const at::Device device = group[0].device();
    const at::Tensor there = coefficient.device() == device
                                 ? coefficient
                                 : coefficient.to(device, /*non_blocking=*/true);
    if (foreach_is_faster(device)) {
      at::_foreach_mul_(group, there);
    } else {
      for (const at::Tensor& gradient : group) gradient.mul_(there);
    }
  });
}

}  // namespace gradlab::amp
