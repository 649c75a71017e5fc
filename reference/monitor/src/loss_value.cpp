#include "loss_value.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace gradlab::monitor {

LossValue loss_value(const at::Tensor& loss) {
  LossValue result;
  if (!loss.defined() || loss.numel() == 0) return result;
  result.elements = loss.numel();
  if (loss.is_complex()) {
    result.is_complex = true;
    return result;
  }
  const at::NoGradGuard no_grad;
  if (result.elements == 1) {
    result.value = loss.item().toDouble();
    return result;
  }
  const auto type = loss.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  result.value = loss.to(type).mean().item().toDouble();
  return result;
}

}  // namespace gradlab::monitor
