#include "underflow.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "errors.hpp"
#include "gradient_reader.hpp"

namespace gradlab::monitor {
namespace {

constexpr int64_t kSample = 4096;                // elements of a gradient
constexpr double kSmallestNormal = 1.0 / 16384;  // 2^-14 in float16
constexpr double kSomeSubnormal = 0.01;          // of a layer's elements

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

void UnderflowWatch::look(const Context& context, const std::string& layer,
                          const SmallElements& small, double scale) {
  const bool was_lost = lost_;
  // Zeros alone are a dead unit; zeros beside subnormals are numbers on their way out.
  lost_ = small.subnormal_share() >= kSomeSubnormal &&
          small.zero_share() + small.subnormal_share() >= context.options.underflow_share;
  if (!lost_ || was_lost) return;
  ++context.journal.counts.underflows;
  context.tell("underflow", Severity::kWarning,
               {{"layer", layer},
                {"scale", scale},
                {"zero_share", small.zero_share()},
                {"subnormal_share", small.subnormal_share()},
                {"message", std::string(messages::kUnderflow)}});
}

}  // namespace gradlab::monitor
