// The two halves of clipping by ATen's ops: what clip and unscale_and_clip_ share. No checks here.
#pragma once

#include "gradients.hpp"

namespace gradlab::amp {

constexpr double kClipEpsilon = 1e-6;  // torch.nn.utils.clip_grad_norm_

// The p-norm of the p-norms; float32 0 for none.
at::Tensor total_norm_of(at::TensorList gradients, double norm_type);

// gradient *= min(1, max_norm / (total_norm + eps)), by Python's route: a reciprocal, then a
// product.
void multiply_by_coefficient(at::TensorList gradients, double max_norm,
                             const at::Tensor& total_norm);

}  // namespace gradlab::amp
