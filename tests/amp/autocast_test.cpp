// AutocastGuard: its scope, the weight cache, threads, and what it refuses; with PyTorch's own
// cache tests (test/test_autocast.py) under their names.
#include "gradlab/amp/autocast.hpp"

#include <ATen/autocast_mode.h>
#include <torch/types.h>

#include <thread>
#include <type_traits>

#include "support/golden.hpp"

namespace {

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
