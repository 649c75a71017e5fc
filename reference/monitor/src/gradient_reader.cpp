#include "gradient_reader.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "kernels.hpp"  // the AMP library's loops
#include "parallel_blocks.hpp"

namespace gradlab::monitor {
namespace {

constexpr int64_t kBlock = 16384;  // elements; stays in a core's cache
constexpr int64_t kGrain = 64;     // blocks a thread: with less, a second thread saves little
// Below this a sum of float64 squares may have lost some as subnormals.
constexpr double kTinySquares = 1e-280;

bool has_loop(const at::Tensor& gradient) {
  const auto type = gradient.scalar_type();
  return gradient.layout() == at::kStrided && gradient.is_cpu() &&
         (type == at::kFloat || type == at::kDouble || type == at::kBFloat16) &&
         gradient.is_non_overlapping_and_dense() && gradient.has_storage() && !gradient.is_neg();
}

amp::Measured measured(const void* data, int64_t count, c10::ScalarType type) {
  const amp::Kernels& run = amp::kernels();
  if (type == at::kFloat) return run.measure_float(static_cast<const float*>(data), count);
  if (type == at::kDouble) return run.measure_double(static_cast<const double*>(data), count);
  return run.measure_bfloat16(static_cast<const amp::BFloat16Bits*>(data), count);
}

// For values whose squares leave float64: divided by the largest magnitude first.
double scaled_norm(const at::Tensor& values) {
  const at::Tensor wide = values.to(at::kDouble);
  const double most = wide.abs().max().item<double>();
  if (most == 0 || !std::isfinite(most)) return most;
  return most * at::linalg_vector_norm(wide / most, 2).item<double>();
}

Reading other_reading(const at::Tensor& gradient) {
  Reading reading;
  reading.present = true;
  const at::Tensor values = real_values(gradient);
  if (values.numel() == 0) return reading;
  reading.norm = at::linalg_vector_norm(values, 2, at::OptionalIntArrayRef(), false, at::kDouble)
                     .item<double>();
  const double squares = reading.norm * reading.norm;
  if (std::isfinite(squares) && squares >= kTinySquares) return reading;
  reading.finite = nonfinite_elements(values) == 0;
  if (reading.finite) reading.norm = scaled_norm(values);
  return reading;
}

}  // namespace

at::Tensor real_values(const at::Tensor& gradient) {
  at::Tensor values = gradient.is_sparse() ? gradient.coalesce()._values() : gradient;
  if (values.layout() != at::kStrided) values = values.to_dense();
  if (values.is_complex()) values = at::view_as_real(values.resolve_conj());
  if (!at::isFloatingType(values.scalar_type())) return values.to(at::kDouble);
  const bool narrow = values.scalar_type() != at::kFloat && values.scalar_type() != at::kDouble;
  return narrow ? values.to(at::kFloat) : values;
}

int64_t nonfinite_elements(const at::Tensor& gradient) {
  const at::Tensor values = real_values(gradient);
  return values.numel() - at::isfinite(values).sum().item<int64_t>();
}

double float32_norm(const at::Tensor& gradient) {
  const at::Tensor values = real_values(gradient);
  return values.numel() == 0 ? 0 : at::linalg_vector_norm(values, 2).item().toDouble();
}

void GradientReader::add(const at::Tensor& gradient, size_t parameter) {
  const auto type = gradient.scalar_type();
  const char* data = static_cast<const char*>(gradient.const_data_ptr());
  const auto size = static_cast<int64_t>(gradient.element_size());
  for (int64_t at = 0; at < gradient.numel(); at += kBlock) {
    stretches_.push_back(
        {data + at * size, std::min(kBlock, gradient.numel() - at), parameter, type});
  }
}

void GradientReader::measure_stretches() {
  squares_.resize(stretches_.size());
  const auto count = static_cast<int64_t>(stretches_.size());
  amp::parallel_blocks(count, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const Stretch& stretch = stretches_[static_cast<size_t>(i)];
      squares_[static_cast<size_t>(i)] =
          measured(stretch.data, stretch.count, stretch.type).squares;
    }
  });
  // In order: the same sums on any number of threads.
  for (size_t i = 0; i < stretches_.size(); ++i) {
    readings_[stretches_[i].parameter].norm += squares_[i];
  }
}

const std::vector<Reading>& GradientReader::read(const std::vector<TableParameter>& parameters) {
  const at::NoGradGuard no_grad;
  readings_.assign(parameters.size(), Reading());
  stretches_.clear();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& gradient = parameters[i].tensor.grad();
    if (!gradient.defined()) continue;
    if (has_loop(gradient)) {
      readings_[i].present = true;
      add(gradient, i);
    } else {
      readings_[i] = other_reading(gradient);
    }
  }
  measure_stretches();
  // The stretches' sums of squares become norms.
  for (size_t begin = 0; begin < stretches_.size();) {
    const size_t i = stretches_[begin].parameter;
    while (begin < stretches_.size() && stretches_[begin].parameter == i) ++begin;
    const double squares = readings_[i].norm;
    readings_[i].norm = std::sqrt(squares);
    const bool exact = parameters[i].tensor.grad().scalar_type() != at::kDouble;
    if (std::isfinite(squares) && (exact || squares >= kTinySquares)) continue;
    readings_[i] = exact ? Reading{true, std::isfinite(squares), std::sqrt(squares)}
                         : other_reading(parameters[i].tensor.grad());
  }
  return readings_;
}

}  // namespace gradlab::monitor
