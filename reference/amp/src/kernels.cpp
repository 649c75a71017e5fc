#include "kernels.hpp"

#include "attributes.hpp"
#include "kernel_loops.hpp"

namespace gradlab::amp {
namespace {

// The six functions of one version, each compiled for `target`.
#define GRADLAB_AMP_VERSION(version, target)                                                     \
  namespace version {                                                                            \
  target Measured measure_float(const float* data, int64_t count) {                              \
    return loops::measure(data, count);                                                          \
  }                                                                                              \
  target Measured measure_double(const double* data, int64_t count) {                            \
    return loops::measure(data, count);                                                          \
  }                                                                                              \
  target Measured measure_bfloat16(const BFloat16Bits* data, int64_t count) {                    \
    return loops::measure(data, count);                                                          \
  }                                                                                              \
  target void multiply_float(float* data, int64_t count, double factor) {                        \
    loops::multiply(data, count, factor);                                                        \
  }                                                                                              \
  target void multiply_double(double* data, int64_t count, double factor) {                      \
    loops::multiply(data, count, factor);                                                        \
  }                                                                                              \
  target void multiply_bfloat16(BFloat16Bits* data, int64_t count, double factor) {              \
    loops::multiply(data, count, factor);                                                        \
  }                                                                                              \
  constexpr Kernels kAll = {#version,       measure_float,   measure_double,   measure_bfloat16, \
                            multiply_float, multiply_double, multiply_bfloat16};                 \
  }

GRADLAB_AMP_VERSION(plain, )
#if GRADLAB_AMP_X86
GRADLAB_AMP_VERSION(avx2, GRADLAB_AMP_TARGET("avx2,fma"))
GRADLAB_AMP_VERSION(avx512, GRADLAB_AMP_TARGET("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"))
#endif

#undef GRADLAB_AMP_VERSION

std::vector<Kernels> runnable() {
  std::vector<Kernels> all = {plain::kAll};
#if GRADLAB_AMP_X86
  const bool avx2 = GRADLAB_AMP_HAS("avx2") && GRADLAB_AMP_HAS("fma");
  if (avx2) all.push_back(avx2::kAll);
  if (avx2 && GRADLAB_AMP_HAS("avx512f") && GRADLAB_AMP_HAS("avx512bw") &&
      GRADLAB_AMP_HAS("avx512dq") && GRADLAB_AMP_HAS("avx512vl")) {
    all.push_back(avx512::kAll);
  }
#endif
  return all;
}

}  // namespace

const std::vector<Kernels>& all_kernels() {
  static const std::vector<Kernels> all = runnable();
  return all;
}

const Kernels& kernels() { return all_kernels().back(); }

}  // namespace gradlab::amp
