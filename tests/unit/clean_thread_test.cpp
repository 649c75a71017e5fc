// Whatever a hand-in leaves on its thread, the next case finds it as new.
#include "runner/clean_thread.hpp"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <torch/types.h>

namespace gradlab {
namespace {

namespace autocast = at::autocast;

int depth() {
  autocast::increment_nesting();
  return autocast::decrement_nesting();
}

TEST(CleanThread, closes_regions_and_opens_those_that_were_closed_too_often) {
  for (const int left : {0, 1, 3, -1, -2, -5}) {
    for (int i = 0; i < left; ++i) autocast::increment_nesting();
    for (int i = 0; i > left; --i) autocast::decrement_nesting();
    ASSERT_EQ(depth(), left);
    clean_thread();
    EXPECT_EQ(depth(), 0) << "from " << left;
  }
}

TEST(CleanThread, puts_back_modes_types_threads_and_the_generator) {
  const CleanThread clean;
  const auto first = torch::rand({4});
  autocast::set_autocast_enabled(at::kCPU, true);
  autocast::set_autocast_dtype(at::kCPU, at::kHalf);
  autocast::set_autocast_cache_enabled(false);
  torch::GradMode::set_enabled(false);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  at::set_num_threads(2);
  clean_thread();
  EXPECT_FALSE(autocast::is_autocast_enabled(at::kCPU));
  EXPECT_EQ(autocast::get_autocast_dtype(at::kCPU), at::kBFloat16);
  EXPECT_TRUE(autocast::is_autocast_cache_enabled());
  EXPECT_TRUE(torch::GradMode::is_enabled());
  EXPECT_EQ(torch::rand({4}).scalar_type(), torch::kFloat32);
  EXPECT_EQ(at::get_num_threads(), 1);
  clean_thread();
  EXPECT_TRUE(torch::rand({4}).equal(first));
}

}  // namespace
}  // namespace gradlab
