// Gradient clipping with the semantics of Python's torch.nn.utils (2.11), which LibTorch's own C++
// clipping lacks in places; each difference is stated where it is declared.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gradlab/amp/error.hpp"

namespace torch::optim {
class Optimizer;
}

namespace gradlab::amp {

// Of all calls here:
// - A tensor list is a std::vector, a braced list or one tensor. A parameter whose grad() is not
//   defined is passed over; requires_grad is not looked at: a frozen parameter with a stale
//   gradient counts. Gradients are dense and of any floating dtype; complex ones only where said.
// - Norm, coefficient and product never leave the gradients' device: no host sync. Gradients on
//   several devices are grouped; the norms meet on the first gradient's device. (LibTorch's C++
//   call fails there.)
// - Gradients of several dtypes: the norms are promoted as torch::stack promotes.
// - A write raises a gradient's version counter by one, as in Python. (LibTorch's C++ call hides
// its
//   writes from autograd.)
// THROWS, before anything is written, Error naming the entry and what it was: kUndefinedTensor,
//   kIntegerGradients, kUnsupportedLayout (sparse), kOverlappingMemory (a gradient that is
//   `expand`ed: one element in several places), kInfinityNormOfEmpty (norm_type is inf or -inf and
//   a gradient has no element).

struct ClipOptions {
  // The p of the norm: any double, inf and -inf (largest, smallest magnitude) too. 0 counts the
  // tensors that are not all zero, as in Python. (LibTorch's C++ call counts those with a
  // gradient.)
  double norm_type = 2.0;
  // Throw kNonfiniteNorm where the total norm is inf or NaN. Costs one host sync on a GPU.
  bool error_if_nonfinite = false;
  // Measure and multiply in two passes over all gradients together (norm_type 2, dense CPU float32,
  // float64 or bfloat16; otherwise this does nothing). The norm is summed in double, so it is
  // nearer to the true one than PyTorch's, and has no float32 overflow below 1e38; gradients differ
  // from PyTorch's by at most 1e-6 relative where PyTorch's norm neither overflows nor underflows.
  // Where the coefficient is 1, no gradient is written. One allocation a call, none per tensor.
  bool fused = false;
  // Refuse what Python accepts: max_norm NaN or negative (kBadMaxNorm), a tensor twice
  // (kRepeatedTensor), no gradient at all (kNoGradients).
  bool strict = false;
};

// The p-norm of the vector of the gradients' p-norms. Takes gradients, not parameters.
// Returns a 0-dim tensor on the first gradient's device; float32 0 for an empty list. Complex
// gradients are accepted.
// THROWS also kNonfiniteNorm if asked for.
// SOURCE: torch.nn.utils.get_total_norm.
at::Tensor get_total_norm(at::TensorList gradients, double norm_type = 2.0,
                          bool error_if_nonfinite = false);

// Multiplies every gradient in place by min(1, max_norm / (total_norm + 1e-6)), also where that
// is 1. REQUIRES: total_norm has one element; it may be on another device than the gradients.
// Python accepts every max_norm, and so does this: 0 makes zeros, a negative one turns signs round,
// NaN makes NaN. The quotient is total_norm's reciprocal times max_norm, as Python's is: it differs
// from LibTorch's C++ call in the last bit now and then, and in float16 by more.
// THROWS also kBadTotalNorm. Complex gradients are accepted.
// SOURCE: torch.nn.utils.clip_grads_with_norm_.
void clip_grads_with_norm_(at::TensorList parameters, double max_norm,
                           const at::Tensor& total_norm);

// Both of the above. Returns the norm *before* clipping, as a 0-dim tensor (LibTorch's C++ call
// returns a double, which costs a host sync on a GPU).
// ENSURES: on kNonfiniteNorm no gradient has changed.
// SOURCE: torch.nn.utils.clip_grad_norm_.
at::Tensor clip_grad_norm_(at::TensorList parameters, double max_norm,
                           const ClipOptions& options = ClipOptions());
at::Tensor clip_grad_norm_(at::TensorList parameters, double max_norm, double norm_type,
                           bool error_if_nonfinite = false);

// Clamps every element in place to [-clip_value, clip_value]; NaN stays NaN. A negative clip_value
// sets every element to it, as in Python.
// THROWS also kNoGradients where no parameter has a gradient, as Python does; kComplexGradients.
// SOURCE: torch.nn.utils.clip_grad_value_.
void clip_grad_value_(at::TensorList parameters, double clip_value);

// The parameters of all groups, in order. (Optimizer::parameters() is the first group only.)
std::vector<at::Tensor> parameters_of(const torch::optim::Optimizer& optimizer);

}  // namespace gradlab::amp
