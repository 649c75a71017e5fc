#include "bench/bare_pass.hpp"

#include <algorithm>
#include <atomic>

#include "parallel_blocks.hpp"

namespace bench {
namespace {

constexpr int64_t kGrain = 1 << 20;  // elements a thread, as the fused pass has it

#if defined(__x86_64__)
#define GRADLAB_BENCH_TARGET __attribute__((target("avx2,fma")))
#else
#define GRADLAB_BENCH_TARGET
#endif

GRADLAB_BENCH_TARGET float sum_of(const float* data, int64_t count) {
  float lanes[64] = {};
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    for (int64_t lane = 0; lane < 64; ++lane) lanes[lane] += data[i + lane];
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (; i < count; ++i) sum += data[i];
  return sum;
}

GRADLAB_BENCH_TARGET void scale(float* data, int64_t count, float factor) {
  for (int64_t i = 0; i < count; ++i) data[i] *= factor;
}

}  // namespace

float bare_pass(const std::vector<at::Tensor>& gradients, float factor) {
  const auto tensors = static_cast<int64_t>(gradients.size());
  const int64_t grain = 1 + kGrain / std::max<int64_t>(1, gradients[0].numel());
  std::atomic<float> total{0};
  gradlab::amp::parallel_blocks(tensors, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const at::Tensor& gradient = gradients[static_cast<size_t>(i)];
      total.store(total.load() + sum_of(gradient.const_data_ptr<float>(), gradient.numel()));
    }
  });
  gradlab::amp::parallel_blocks(tensors, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const at::Tensor& gradient = gradients[static_cast<size_t>(i)];
      scale(gradient.mutable_data_ptr<float>(), gradient.numel(), factor);
    }
  });
  return total.load();
}

}  // namespace bench
