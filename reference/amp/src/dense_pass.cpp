#include "dense_pass.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "kernels.hpp"
#include "norms.hpp"
#include "parallel_blocks.hpp"

namespace gradlab::amp {
namespace {

constexpr int64_t kBlock = 16384;  // elements; 64 KiB of float32, which stays in a core's cache
// Blocks for each thread: a million elements, about 100 us. With less a second thread saves little,
// and on a busy machine waiting for it costs milliseconds.
constexpr int64_t kGrain = 64;

bool is_dense(const at::Tensor& gradient) {
  return gradient.is_non_overlapping_and_dense() && gradient.has_storage() && !gradient.is_neg();
}

double squared(double value) { return value * value; }

}  // namespace

double clip_coefficient(double norm, double max_norm) {
  const double coefficient = max_norm / (norm + kClipEpsilon);
  return coefficient > 1 ? 1 : coefficient;
}

std::optional<DensePass> DensePass::over(at::TensorList gradients) {
  DensePass pass;
  pass.gradients_ = gradients;
  pass.segments_.reserve(gradients.size());
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.is_cpu() || gradient.is_complex()) return std::nullopt;
    const auto type = gradient.scalar_type();
    const bool known = type == at::kFloat || type == at::kDouble || type == at::kBFloat16;
    if (!known || !is_dense(gradient)) {
      pass.others_.push_back(gradient);
      continue;
    }
    const Element element = type == at::kFloat    ? Element::kFloat
                            : type == at::kDouble ? Element::kDouble
                                                  : Element::kBFloat16;
    const int64_t count = gradient.numel();
    if (count == 0) continue;
    pass.segments_.push_back({&gradient, gradient.mutable_data_ptr(), pass.count_, count, element});
    pass.count_ += count;
  }
  const bool one_thread = pass.count_ <= kGrain * kBlock;
  if (pass.count_ == 0 || (!one_thread && pass.overlaps())) return std::nullopt;
  return pass;
}

// A tensor twice, or two views of one memory: two threads would write there at a time. (The others
// come one after another.)
bool DensePass::overlaps() const {
  const auto bytes = [](const Segment& segment) {
    const int64_t size = segment.element == Element::kFloat    ? 4
                         : segment.element == Element::kDouble ? 8
                                                               : 2;
    const char* begin = static_cast<const char*>(segment.data);
    return std::pair(begin, begin + size * segment.count);
  };
  std::vector<std::pair<const char*, const char*>> all;
  all.reserve(segments_.size());
  for (const Segment& segment : segments_) all.push_back(bytes(segment));
  std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i].first < all[i - 1].second) return true;
  }
  return false;
}

// visit(segment, offset, count) for the stretches of memory that one block lies in.
template <typename Visit>
void DensePass::visit_block(int64_t block, const Visit& visit) const {
  int64_t at = block * kBlock;
  const int64_t end = std::min(count_, at + kBlock);
  auto segment = std::upper_bound(segments_.begin(), segments_.end(), at,
                                  [](int64_t value, const Segment& s) { return value < s.begin; });
  for (--segment; at < end; ++segment) {
    const int64_t offset = at - segment->begin;
    const int64_t count = std::min(segment->count - offset, end - at);
    visit(*segment, offset, count);
    at += count;
  }
}

DensePass::Total DensePass::measure() const {
  const Kernels& run = kernels();
  const int64_t blocks = (count_ + kBlock - 1) / kBlock;
  // Summed up in order at the end: the same total on any number of threads.
  std::vector<double> squares(static_cast<size_t>(blocks));
  std::atomic<bool> finite{true};
  parallel_blocks(blocks, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      visit_block(block, [&](const Segment& segment, int64_t offset, int64_t count) {
        const Measured part =
            segment.element == Element::kFloat
                ? run.measure_float(static_cast<const float*>(segment.data) + offset, count)
            : segment.element == Element::kDouble
                ? run.measure_double(static_cast<const double*>(segment.data) + offset, count)
                : run.measure_bfloat16(static_cast<const BFloat16Bits*>(segment.data) + offset,
                                       count);
        squares[static_cast<size_t>(block)] += part.squares;
        if (!part.finite) finite.store(false, std::memory_order_relaxed);
      });
    }
  });
  Total total;
  double sum = 0;
  for (const double part : squares) sum += part;
  for (const at::Tensor& other : others_) {
    sum += squared(at::linalg_vector_norm(other, 2, at::OptionalIntArrayRef(), false, at::kDouble)
                       .item<double>());
    if (!std::isfinite(sum) && !at::isfinite(other).all().item<bool>()) finite = false;
  }
  total.norm = std::sqrt(sum);
  total.finite = finite;
  return total;
}

void DensePass::multiply(double factor) const {
  if (factor == 1) return;
  const Kernels& run = kernels();
  const int64_t blocks = (count_ + kBlock - 1) / kBlock;
  parallel_blocks(blocks, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      visit_block(block, [&](const Segment& segment, int64_t offset, int64_t count) {
        if (segment.element == Element::kFloat) {
          run.multiply_float(static_cast<float*>(segment.data) + offset, count, factor);
        } else if (segment.element == Element::kDouble) {
          run.multiply_double(static_cast<double*>(segment.data) + offset, count, factor);
        } else {
          run.multiply_bfloat16(static_cast<BFloat16Bits*>(segment.data) + offset, count, factor);
        }
      });
    }
  });
  for (const Segment& segment : segments_) segment.gradient->unsafeGetTensorImpl()->bump_version();
  for (const at::Tensor& other : others_) other.mul_(factor);
}

at::Tensor DensePass::as_norm(double norm) const {
  auto type = gradients_[0].scalar_type();
  for (const at::Tensor& gradient : gradients_) {
    type = at::promote_types(type, gradient.scalar_type());
  }
  return at::scalar_tensor(norm, at::kDouble).to(type);
}

}  // namespace gradlab::amp
