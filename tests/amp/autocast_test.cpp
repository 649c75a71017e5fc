// AutocastGuard: its scope, the weight cache, threads, and what it refuses; with PyTorch's own
// cache tests (test/test_autocast.py) under their names.
#include "gradlab/amp/autocast.hpp"

#include <ATen/autocast_mode.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/types.h>
#include <torch/version.h>

#include <thread>
#include <type_traits>

#include "support/casts.hpp"
#include "support/golden.hpp"

namespace {

using amp_test::CastCounter;
using gradlab::amp::AutocastGuard;

static_assert(!std::is_copy_constructible_v<AutocastGuard>);
static_assert(!std::is_move_constructible_v<AutocastGuard>);

bool enabled() { return at::autocast::is_autocast_enabled(at::kCPU); }
at::ScalarType dtype() { return at::autocast::get_autocast_dtype(at::kCPU); }

torch::Tensor leaf(double value) { return torch::full({2, 2}, value).set_requires_grad(true); }

// ---- scope

TEST(AutocastGuardTest, an_exception_leaves_what_it_found) {
  const AutocastGuard outer(at::kCPU, at::kHalf);
  try {
    const AutocastGuard inner(at::kCPU, at::kBFloat16, true, false);
    EXPECT_EQ(AutocastGuard::depth(), 2);
    EXPECT_FALSE(at::autocast::is_autocast_cache_enabled());
    throw std::runtime_error("the model failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(AutocastGuard::depth(), 1);
  EXPECT_TRUE(enabled());
  EXPECT_EQ(dtype(), at::kHalf);
  EXPECT_TRUE(at::autocast::is_autocast_cache_enabled());
}

TEST(AutocastGuardTest, inner_region_does_not_turn_the_cache_on_again) {
  const AutocastGuard outer(at::kCPU, at::kHalf, true, false);
  const AutocastGuard inner(at::kCPU, at::kHalf);
  EXPECT_FALSE(at::autocast::is_autocast_cache_enabled());
}

TEST(AutocastGuardTest, another_thread_begins_outside_and_leaves_this_one_alone) {
  const AutocastGuard guard(at::kCPU, at::kHalf);
  std::thread([] {
    EXPECT_FALSE(enabled());
    EXPECT_EQ(AutocastGuard::depth(), 0);
    const AutocastGuard own(at::kCPU, at::kBFloat16);
    EXPECT_EQ(at::mm(torch::ones({2, 2}), torch::ones({2, 2})).scalar_type(), at::kBFloat16);
  }).join();
  EXPECT_TRUE(enabled());
  EXPECT_EQ(dtype(), at::kHalf);
}

TEST(AutocastGuardTest, backward_outside_runs_outside) {
  const auto w = leaf(0.5);
  torch::Tensor loss;
  {
    const AutocastGuard guard(at::kCPU, at::kHalf);
    loss = at::linear(torch::ones({2, 2}), w).sum().to(at::kFloat);
  }
  bool inside = true;
  w.register_hook([&](const torch::Tensor&) { inside = enabled(); });
  loss.backward();
  EXPECT_FALSE(inside);
  EXPECT_EQ(w.grad().scalar_type(), at::kFloat);
}

// ---- what it refuses

TEST(AutocastGuardTest, refuses_a_device_without_autocast) {
  EXPECT_EQ(golden::error_kind([] { const AutocastGuard guard(at::kMeta); }), "autocast_device");
  EXPECT_EQ(AutocastGuard::depth(), 0);
}

TEST(AutocastGuardTest, refuses_cuda_where_there_is_none) {
  if (at::hasCUDA()) GTEST_SKIP() << "this machine has CUDA";
  EXPECT_EQ(golden::error_kind([] { const AutocastGuard guard(at::kCUDA); }), "wrong_device");
  const AutocastGuard off(at::kCUDA, at::kHalf, false);  // one code path for every machine
  EXPECT_EQ(AutocastGuard::depth(), 1);
}

TEST(AutocastGuardTest, message_names_the_dtype_and_what_it_may_be) {
  for (const auto type : {at::kFloat, at::kDouble, at::kInt}) {
    try {
      const AutocastGuard guard(at::kCPU, type);
      FAIL() << "took " << type;
    } catch (const gradlab::amp::Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(golden::dtype_name(type)), std::string::npos) << text;
      EXPECT_NE(text.find("float16 or bfloat16"), std::string::npos) << text;
    }
  }
  EXPECT_EQ(AutocastGuard::depth(), 0);
}

TEST(AutocastGuardTest, disabled_region_takes_any_dtype) {
  const AutocastGuard guard(at::kCPU, at::kFloat, false);
  EXPECT_FALSE(enabled());
}

// ---- the weight cache

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

// test_autocast_disabled_with_fp32_dtype: Python warns and disables; a disabled guard says so
// itself.
TEST(TestAutocast, test_autocast_disabled_with_fp32_dtype) {
  EXPECT_EQ(golden::error_kind([] { const AutocastGuard guard(at::kCPU, at::kFloat); }),
            "autocast_dtype");
  const AutocastGuard guard(at::kCPU, at::kFloat, false);
  EXPECT_EQ(at::mm(torch::ones({2, 2}), torch::ones({2, 2})).scalar_type(), at::kFloat);
}

// test_autocast_fast_dtype
TEST(TestAutocast, test_autocast_fast_dtype) {
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kBFloat16);
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCUDA), at::kHalf);
}

}  // namespace
