// The weight cache under AutocastGuard: never stale, never of the wrong dtype; and PyTorch's own
// tests of it (test/test_autocast.py) under their names.
#include <ATen/autocast_mode.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>
#include <torch/version.h>

#include "gradlab/amp/autocast.hpp"
#include "support/casts.hpp"
#include "support/golden.hpp"

namespace {

using amp_test::CastCounter;
using gradlab::amp::AutocastGuard;

torch::Tensor leaf(double value) { return torch::full({2, 2}, value).set_requires_grad(true); }

// One step of SGD a region, as a training loop has it; the losses of five.
template <typename Forward>
std::vector<double> losses(const Forward& forward, const std::vector<torch::Tensor>& parameters) {
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.1));
  std::vector<double> all;
  for (int step = 0; step < 5; ++step) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      const AutocastGuard guard(at::kCPU, at::kBFloat16);
      loss = forward().to(at::kFloat).square().mean();
    }
    loss.backward();
    optimizer.step();
    all.push_back(loss.item<double>());
  }
  return all;
}

TEST(AutocastCache, leaf_weights_are_not_stale_after_a_step) {
  const auto x = torch::ones({2, 2}), w = leaf(0.5);
  const auto all = losses([&] { return at::linear(x, w); }, {w});
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i], all[i - 1]);
}

// The frontend hands over the weight transposed, which is never cached, but the bias as it is.
TEST(AutocastCache, bias_of_nn_linear_is_not_stale_after_a_step) {
  torch::nn::Linear layer(2, 2);
  const auto x = torch::zeros({2, 2});
  {
    const at::NoGradGuard no_grad;
    layer->bias.fill_(0.5);
  }
  const auto all = losses([&] { return layer->forward(x); }, layer->parameters());
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i], all[i - 1]);
}

TEST(AutocastCache, copies_that_others_left_are_dropped_where_a_region_begins) {
  const auto x = torch::ones({2, 2}), w = leaf(1);
  at::autocast::set_autocast_enabled(at::kCPU, true);  // by hand, and never cleared
  at::linear(x, w);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  {
    const at::NoGradGuard no_grad;
    w.fill_(3);
  }
  const AutocastGuard guard(at::kCPU, at::kBFloat16);
  EXPECT_EQ(at::linear(x, w)[0][0].item<double>(), 6);
  at::autocast::clear_cache();
}

TEST(AutocastCache, other_dtype_behind_a_disabled_region_gets_its_own_copy) {
  const auto x = torch::ones({2, 2}), w = leaf(1);
  const AutocastGuard half(at::kCPU, at::kHalf);
  at::linear(x, w);
  const AutocastGuard off(at::kCPU, at::kBFloat16, false);
  const AutocastGuard on(at::kCPU, at::kBFloat16);
  EXPECT_EQ(at::linear(x, w).scalar_type(), at::kBFloat16);
}

// test_cast_cache_is_global: a weight that is used twice is cast once, by backward's threads too.
TEST(TestAutocast, test_cast_cache_is_global) {
  const auto x = torch::ones({2, 2}).to(at::kHalf), w = leaf(0.5);
  const AutocastGuard guard(at::kCPU, at::kHalf);
  const CastCounter counter;
  at::mm(at::mm(x, w), w).sum().backward();
  EXPECT_EQ(counter.count(), 2) << "the weight once, its gradient back to float32 once";
}

// test_cache_disabled
TEST(TestAutocast, test_cache_disabled) {
  const auto x = torch::ones({2, 2}).to(at::kHalf), w = leaf(0.5);
  const AutocastGuard guard(at::kCPU, at::kHalf, true, false);
  const CastCounter counter;
  at::mm(at::mm(x, w), w);
  EXPECT_EQ(counter.count(), 2);
}

// test_autocast_prioritize, and its CPU op that promotes.
TEST(TestAutocast, test_autocast_prioritize) {
  const auto half = torch::ones({2}).to(at::kHalf), bfloat = torch::ones({2}).to(at::kBFloat16);
  const AutocastGuard guard(at::kCPU, at::kHalf);
  EXPECT_EQ(golden::error_kind([&] { at::cat({half, bfloat}); }), "aten");
}

// test_autocast_nograd_caching_issue_158232: mended in LibTorch after 2.6.
TEST(TestAutocast, test_autocast_nograd_caching_issue_158232) {
  if (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 10) {
    GTEST_SKIP() << "LibTorch " << TORCH_VERSION << " loses the gradient: its cache keeps a copy "
                 << "without history";
  }
  const auto x = torch::ones({2, 2}), w = leaf(0.5);
  const AutocastGuard guard(at::kCPU, at::kHalf);
  {
    const at::NoGradGuard no_grad;
    EXPECT_FALSE(at::linear(x, w).requires_grad());
  }
  EXPECT_TRUE(at::linear(x, w).requires_grad());
}

// test_autocast_mixed_grad_contexts
TEST(TestAutocast, test_autocast_mixed_grad_contexts) {
  if (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 10) GTEST_SKIP() << "as above";
  const auto x = torch::ones({2, 2}), w = leaf(0.5);
  const AutocastGuard guard(at::kCPU, at::kBFloat16);
  for (const bool grad : {true, false, true}) {
    const at::AutoGradMode mode(grad);
    EXPECT_EQ(at::linear(x, w).requires_grad(), grad);
  }
}

}  // namespace
