#include "underflow.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "gradient_reader.hpp"

namespace gradlab::monitor {
namespace {

constexpr int64_t kSample = 4096;                // elements of a gradient
constexpr double kSmallestNormal = 1.0 / 16384;  // 2^-14 in float16

}  // namespace

void count_small(const at::Tensor& gradient, double factor, SmallElements& into) {
  const at::NoGradGuard no_grad;
  const at::Tensor values = real_values(gradient).reshape(-1);
  const int64_t stride = std::max<int64_t>(1, values.numel() / kSample);
  const at::Tensor sample =
      values.slice(0, 0, values.numel(), stride).to(at::kCPU, at::kDouble).contiguous();
  const double* const data = static_cast<const double*>(sample.const_data_ptr());
  for (int64_t i = 0; i < sample.numel(); ++i) {
    const double magnitude = std::abs(data[i]) * factor;
    ++into.looked;
    if (magnitude == 0) {
      ++into.zeros;
    } else if (magnitude < kSmallestNormal) {
      ++into.subnormal;
    }
  }
}

}  // namespace gradlab::monitor
