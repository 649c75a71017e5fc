// The loops of the fused pass, every version that this processor runs: sums, inf and NaN at any
// place, rounding, and sizes around the lanes.
#include "kernels.hpp"

#include <torch/types.h>

#include <cmath>

#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using amp_test::kInf;
using amp_test::kNaN;
using gradlab::amp::all_kernels;
using gradlab::amp::BFloat16Bits;
using gradlab::amp::Kernels;
using gradlab::amp::Measured;

class KernelVersions : public testing::TestWithParam<size_t> {
 protected:
  const Kernels& run() const { return all_kernels()[GetParam()]; }
};

Measured measure(const Kernels& run, const torch::Tensor& data) {
  if (data.scalar_type() == torch::kFloat)
    return run.measure_float(data.data_ptr<float>(), data.numel());
  if (data.scalar_type() == torch::kDouble) {
    return run.measure_double(data.data_ptr<double>(), data.numel());
  }
  return run.measure_bfloat16(static_cast<const BFloat16Bits*>(data.data_ptr()), data.numel());
}

void multiply(const Kernels& run, const torch::Tensor& data, double factor) {
  if (data.scalar_type() == torch::kFloat) {
    run.multiply_float(data.data_ptr<float>(), data.numel(), factor);
  } else if (data.scalar_type() == torch::kDouble) {
    run.multiply_double(data.data_ptr<double>(), data.numel(), factor);
  } else {
    run.multiply_bfloat16(static_cast<BFloat16Bits*>(data.data_ptr()), data.numel(), factor);
  }
}

const auto kDtypes = {torch::kFloat, torch::kDouble, torch::kBFloat16};

TEST_P(KernelVersions, sums_of_every_size_are_the_true_ones) {
  torch::manual_seed(1);
  for (const auto type : kDtypes) {
    for (const int64_t size :
         {0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 2047, 2048, 2049, 2112, 5000}) {
      const auto data = torch::randn({size}).to(type);
      const auto got = measure(run(), data);
      const double truth = data.to(torch::kDouble).square().sum().item<double>();
      EXPECT_NEAR(got.squares, truth, 2e-7 * truth) << type << " " << size;
      EXPECT_TRUE(got.finite);
    }
  }
}

TEST_P(KernelVersions, inf_and_nan_are_found_at_every_place) {
  for (const auto type : kDtypes) {
    const auto data = torch::ones({2200}).to(type);
    for (int64_t place = 0; place < data.numel(); place += place < 140 || place > 2040 ? 1 : 37) {
      for (const double bad : {kInf, -kInf, kNaN}) {
        data[place] = bad;
        const auto got = measure(run(), data);
        EXPECT_FALSE(got.finite) << type << " " << place;
        EXPECT_EQ(std::isnan(got.squares), std::isnan(bad)) << type << " " << place;
        data[place] = 1;
      }
    }
  }
}

TEST_P(KernelVersions, large_sums_of_finite_elements_are_no_overflow) {
  for (const double value : {1e37, 3e38, 1e20, 1e-25, 1e-44}) {
    const auto data = torch::full({3000}, value);
    const auto got = measure(run(), data);
    const double truth = data.to(torch::kDouble).square().sum().item<double>();
    EXPECT_TRUE(got.finite) << value;
    EXPECT_NEAR(got.squares, truth, 1e-9 * truth) << value;
  }
  const auto huge = measure(run(), torch::full({3000}, 1e200, torch::kDouble));
  EXPECT_TRUE(huge.finite);
  EXPECT_EQ(huge.squares, kInf);  // as PyTorch's float64 norm
}

TEST_P(KernelVersions, products_round_as_atens_do) {
  torch::manual_seed(2);
  for (const auto type : kDtypes) {
    auto data = torch::randn({4000}).mul_(100).to(type);
    data[3] = kNaN;
    data[70] = kInf;
    data[71] = -kInf;
    data[72] = -0.0;
    // A float32 factor that keeps its bits, so that ATen's product has the same one.
    const double factor = static_cast<double>(0.3F);
    const auto expected = data * factor;
    multiply(run(), data, factor);
    EXPECT_TRUE(golden::bit_equal(data, expected)) << type;
  }
}

TEST_P(KernelVersions, factors_outside_float32_lose_nothing) {
  auto large = torch::full({70}, 1e38), small = torch::full({70}, 1e-30);
  multiply(run(), large, 1e-45);
  EXPECT_TRUE(golden::close(large, torch::full({70}, 1e-7), 1e-6, 0));
  multiply(run(), small, 1e40);
  EXPECT_TRUE(golden::close(small, torch::full({70}, 1e10), 1e-6, 0));
  auto none = torch::ones({70});
  multiply(run(), none, 0);
  EXPECT_TRUE(none.eq(0).all().item<bool>());
  auto spoilt = torch::ones({70});
  multiply(run(), spoilt, kNaN);
  EXPECT_TRUE(spoilt.isnan().all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Runnable, KernelVersions, testing::Range<size_t>(0, all_kernels().size()),
                         [](const auto& info) {
                           return std::string(all_kernels()[info.param].name);
                         });

}  // namespace
