// unscale_, norm and clip of a step in one read and one write of the gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include "gradlab/amp/clip.hpp"
#include "gradlab/amp/grad_scaler.hpp"

namespace gradlab::amp {

// Stands for
//   scaler.unscale_(optimizer);
//   clip_grad_norm_(parameters_of(optimizer), max_norm);
// and returns the norm of the unscaled gradients before clipping, as that does. Skips, stages,
// errors and observed calls are those two calls'; scaler.step and scaler.update come next as ever.
// (At the observed end of unscale_ gradients are not yet written: that happens once, in
// clip_grads_with_norm_.)
//
// On the CPU one read finds inf and NaN and the norm (float32 lanes, block sums in double), and one
// write multiplies by 1 / scale times the coefficient. The norm is nearer to the true one than
// PyTorch's, and neither overflows nor underflows in between: where the squares of float32
// gradients do, PyTorch makes zeros of them, or does not clip. Elsewhere gradients are PyTorch's
// within 1e-6 relative, bfloat16 ones within its rounding. With inf or NaN among the gradients they
// become what the two calls make of them: zeros and NaN, or all NaN. On other devices, and where
// two gradients share memory, it is the two calls. Allocates the list of gradients, the list of
// their places in memory and its sorted copy, a double for every 16384 elements, and the result:
// nothing for each parameter. THROWS what the two calls throw, and kUnsupportedLayout for sparse
// gradients, before anything is
//   written.
at::Tensor unscale_and_clip_(GradScaler& scaler, torch::optim::Optimizer& optimizer,
                             double max_norm);

}  // namespace gradlab::amp
