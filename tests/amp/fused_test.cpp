// The one-pass step: unscale_and_clip_ and ClipOptions::fused beside the calls that they stand for.
#include "support/fused.hpp"

#include <ATen/Parallel.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>

#include <cmath>

#include "gradlab/amp/amp.hpp"
#include "support/golden.hpp"
#include "support/models.hpp"

namespace {

using amp_test::defined_gradients;
using amp_test::expect_close;
using amp_test::fused;
using amp_test::gradients_of;
using amp_test::kInf;
using amp_test::kNaN;
using amp_test::relative_error;
using amp_test::tolerance_of;
using amp_test::true_norm;
using amp_test::with_gradient;
using golden::error_kind;
namespace amp = gradlab::amp;
using Tensors = std::vector<torch::Tensor>;

// ---- lists of gradients

// A mix of sizes and memory layouts; what the pass takes itself and what it leaves to ATen.
Tensors mixed(torch::ScalarType type) {
  torch::manual_seed(5);
  Tensors all;
  for (const int64_t size : {1, 3, 63, 64, 65, 1000, 2047, 2048, 2049, 40000}) {
    all.push_back(with_gradient(torch::randn({size}).to(type)));
  }
  all.push_back(with_gradient(torch::randn({7, 9}).to(type).t()));
  all.push_back(with_gradient(torch::randn({8, 20}).to(type).slice(1, 0, 20, 2)));  // with gaps
  all.push_back(with_gradient(torch::empty({0}, type)));
  all.push_back(torch::zeros({3}, type));  // without a gradient
  all.push_back(with_gradient(torch::tensor(0.5).to(type)));
  return all;
}

class FusedDtype : public testing::TestWithParam<torch::ScalarType> {};

TEST_P(FusedDtype, clip_is_the_plain_one_within_rounding) {
  for (const double max_norm : {0.0, 1e-3, 1.0, 1e6}) {
    const Tensors plain = mixed(GetParam()), quick = mixed(GetParam());
    const auto expected = amp::clip_grad_norm_(plain, max_norm);
    const auto got = amp::clip_grad_norm_(quick, max_norm, fused());
    EXPECT_EQ(got.scalar_type(), expected.scalar_type());
    EXPECT_EQ(got.dim(), 0);
    EXPECT_TRUE(golden::close(got, expected, tolerance_of(GetParam()), 0));
    expect_close(defined_gradients(quick), defined_gradients(plain), tolerance_of(GetParam()));
  }
}

TEST_P(FusedDtype, unscale_and_clip_is_the_two_calls_within_rounding) {
  for (const double scale : {1.0, 3.0, 65536.0}) {
    const Tensors plain = mixed(GetParam()), quick = mixed(GetParam());
    torch::optim::SGD plain_optimizer(plain, torch::optim::SGDOptions(0.1));
    torch::optim::SGD quick_optimizer(quick, torch::optim::SGDOptions(0.1));
    amp::GradScalerOptions options;
    options.init_scale = scale;
    options.allow_float16_gradients = true;
    amp::GradScaler plain_scaler(options), quick_scaler(options);
    plain_scaler.scale(torch::ones({}));
    quick_scaler.scale(torch::ones({}));
    plain_scaler.unscale_(plain_optimizer);
    const auto expected = amp::clip_grad_norm_(plain, 1e-3);
    const auto got = amp::unscale_and_clip_(quick_scaler, quick_optimizer, 1e-3);
    EXPECT_TRUE(golden::close(got, expected, tolerance_of(GetParam()), 0));
    expect_close(defined_gradients(quick), defined_gradients(plain), tolerance_of(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, FusedDtype,
                         testing::Values(torch::kFloat, torch::kDouble, torch::kBFloat16));

TEST(Fused, takes_lists_of_several_dtypes) {
  const auto make = [] {
    return Tensors{with_gradient({3, 0}, torch::kBFloat16), with_gradient({0, 4}),
                   with_gradient({12}, torch::kDouble), with_gradient({84}, torch::kHalf)};
  };
  const Tensors plain = make(), quick = make();
  const auto expected = amp::clip_grad_norm_(plain, 1);
  EXPECT_TRUE(golden::close(amp::clip_grad_norm_(quick, 1, fused()), expected, 1e-12, 0));
  expect_close(gradients_of(quick), gradients_of(plain), tolerance_of(gradients_of(plain)));
}

// ---- the norm

TEST(FusedNorm, is_nearer_to_the_float64_truth_than_pytorchs) {
  torch::manual_seed(3);
  Tensors parameters;
  for (int i = 0; i < 20; ++i) {
    parameters.push_back(with_gradient(torch::randn({250'000}) * std::pow(10.0, i % 5 - 2)));
  }
  const double truth = true_norm(gradients_of(parameters));
  const double pytorchs = amp::get_total_norm(gradients_of(parameters)).item<double>();
  const double ours = amp::clip_grad_norm_(parameters, 1e30, fused()).item<double>();
  RecordProperty("relative_error_of_pytorch",
                 std::to_string(relative_error(pytorchs, truth) * 1e9) + "e-9");
  RecordProperty("relative_error_of_ours",
                 std::to_string(relative_error(ours, truth) * 1e9) + "e-9");
  std::cout << "relative error of the norm of 5e6 elements: PyTorch's "
            << relative_error(pytorchs, truth) << ", ours " << relative_error(ours, truth)
            << " (float32 rounds by up to 6e-8)\n";
  EXPECT_LE(relative_error(ours, truth), relative_error(pytorchs, truth));
  EXPECT_LT(relative_error(ours, truth), 6.1e-8);
}

TEST(FusedNorm, neither_overflows_nor_vanishes_where_float32_squares_do) {
  for (const double value : {1e20, 1e30, 1e-25, 1e-30, 1e-40}) {
    const Tensors parameters = {with_gradient(std::vector<double>(100, value))};
    const double truth = true_norm(gradients_of(parameters));
    amp::ClipOptions options = fused();
    EXPECT_LT(relative_error(amp::clip_grad_norm_(parameters, 1, options).item<double>(), truth),
              1e-6);
    if (value > 1) EXPECT_LT(relative_error(true_norm(gradients_of(parameters)), 1), 1e-6);
  }
}

// The order of summation is by block, not by thread.
TEST(FusedNorm, is_the_same_on_any_number_of_threads) {
  torch::manual_seed(9);
  const auto make = [] {
    torch::manual_seed(9);
    return Tensors{with_gradient(torch::randn({3'000'001})), with_gradient(torch::randn({17}))};
  };
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Tensors one = make(), many = make();
  const auto alone = amp::clip_grad_norm_(one, 1, fused());
  at::set_num_threads(3);
  const auto together = amp::clip_grad_norm_(many, 1, fused());
  at::set_num_threads(threads);
  EXPECT_TRUE(golden::bit_equal(together, alone));
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_TRUE(golden::bit_equal(many[i].grad(), one[i].grad()));
  }
}

// ---- memory

TEST(Fused, writes_in_place_raises_versions_and_leaves_small_norms_alone) {
  const auto parameter = with_gradient({3, 4});
  const auto alias = parameter.grad();
  const auto version = alias._version();
  amp::clip_grad_norm_(parameter, 10, fused());
  EXPECT_TRUE(golden::bit_equal(alias, torch::tensor({3.0F, 4.0F})));
  amp::clip_grad_norm_(parameter, 1, fused());
  EXPECT_NEAR(alias[0].item<double>(), 0.6, 1e-6);
  EXPECT_EQ(alias._version(), version + 1);
}

// Two threads must not meet in one memory: such lists go the plain way, whatever their size.
TEST(Fused, tensors_that_share_memory_come_out_as_in_the_plain_call) {
  for (const int64_t size : {4, 3'000'000}) {
    const auto make = [&] {
      torch::manual_seed(2);
      const auto memory = torch::randn({size});
      const auto twice = with_gradient(memory.slice(0, 0, size / 2));
      return Tensors{twice, twice, with_gradient(memory.slice(0, size / 4))};
    };
    const Tensors plain = make(), quick = make();
    const auto expected = amp::clip_grad_norm_(plain, 1);
    EXPECT_TRUE(golden::close(amp::clip_grad_norm_(quick, 1, fused()), expected, 1e-6, 0));
    expect_close(gradients_of(quick), gradients_of(plain), 2e-6);
  }
}

TEST(Fused, other_orders_are_the_plain_call_bit_for_bit) {
  for (const double order : {1.0, 0.0, kInf, 3.0}) {
    const Tensors plain = mixed(torch::kFloat), quick = mixed(torch::kFloat);
    auto options = fused();
    options.norm_type = order;
    if (std::isinf(order)) continue;  // refuses the empty gradient, as the plain call does
    EXPECT_TRUE(golden::bit_equal(amp::clip_grad_norm_(quick, 1, options),
                                  amp::clip_grad_norm_(plain, 1, order)));
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_TRUE(golden::bit_equal(quick[i].grad(), plain[i].grad()));
    }
  }
}

}  // namespace
