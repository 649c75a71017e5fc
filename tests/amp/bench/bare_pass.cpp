#include "bench/bare_pass.hpp"

#include <algorithm>
#include <atomic>

#include "parallel_blocks.hpp"

namespace bench {
namespace {

constexpr int64_t kBlock = 16384;
constexpr int64_t kGrain = 8;

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

float bare_pass(const at::Tensor& tensor, float factor) {
  float* const data = tensor.mutable_data_ptr<float>();
  const int64_t count = tensor.numel(), blocks = (count + kBlock - 1) / kBlock;
  std::atomic<float> total{0};
  gradlab::amp::parallel_blocks(blocks, kGrain, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kBlock, end = std::min(count, last * kBlock);
    total.store(total.load() + sum_of(data + begin, end - begin));
  });
  gradlab::amp::parallel_blocks(blocks, kGrain, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kBlock, end = std::min(count, last * kBlock);
    scale(data + begin, end - begin, factor);
  });
  return total.load();
}

}  // namespace bench
