// Collecting, checking and grouping gradients: what clip and scaler share.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <string>
#include <vector>

namespace gradlab::amp {

using Tensors = std::vector<at::Tensor>;

// "the gradient of parameter 3" for entry 3. Not owning, so that it allocates nothing.
using Place = c10::function_ref<std::string(size_t index)>;

// Throws an Error unless `gradient` can be measured and multiplied in place by ATen: defined, of a
// floating or complex dtype, strided, no element in several places.
// `place` is called only for a message.
void check_gradient(const at::Tensor& gradient, Place place, size_t index);

// The defined gradients of `parameters`, each checked. One allocation.
Tensors checked_gradients_of(at::TensorList parameters);

// For norm_type inf and -inf: an empty gradient has no largest element.
void check_norm_type(at::TensorList gradients, double norm_type);

// Whether ATen's foreach ops are faster than a loop on this device: on the CPU they are a loop.
bool foreach_is_faster(const at::Device& device);

// Calls visit(list) for the tensors of each device and dtype, groups in order of first appearance,
// as Python's grouping has it. Nothing is copied where there is one group.
void for_each_group(at::TensorList tensors, c10::function_ref<void(at::TensorList)> visit);

}  // namespace gradlab::amp
