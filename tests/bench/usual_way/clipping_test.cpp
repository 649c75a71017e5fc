// The properties that the lab's checks hold, as plain tests: random lists of gradients against
// LibTorch's own clipping.
#include "clipping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using Parameters = std::vector<torch::Tensor>;

Parameters draw(int64_t count, double scale) {
  Parameters parameters;
  for (int64_t i = 0; i < count; ++i) {
    parameters.push_back(torch::zeros({i + 1, 3}, torch::requires_grad()));
    if (i % 4 != 3) parameters.back().mutable_grad() = scale * torch::randn({i + 1, 3});
  }
  return parameters;
}

Parameters copy(const Parameters& from) {
  Parameters parameters;
  for (const auto& parameter : from) {
    parameters.push_back(parameter.detach().clone().requires_grad_());
    if (parameter.grad().defined()) parameters.back().mutable_grad() = parameter.grad().clone();
  }
  return parameters;
}

void expect_same(const Parameters& got, const Parameters& want) {
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].grad().defined(), want[i].grad().defined());
    if (got[i].grad().defined()) {
      EXPECT_TRUE(torch::allclose(got[i].grad(), want[i].grad(), 1e-5, 1e-8)) << i;
    }
  }
}

TEST(Clipping, norm_of_random_lists) {
  torch::manual_seed(1);
  for (int64_t i = 0; i < 20; ++i) {
    const auto parameters = draw(1 + i % 7, 3.0);
    double sum = 0;
    for (const auto& parameter : parameters) {
      if (parameter.grad().defined()) sum += parameter.grad().square().sum().item<double>();
    }
    EXPECT_NEAR(clipping::total_norm(parameters), std::sqrt(sum), 1e-4);
  }
}

TEST(Clipping, clips_as_libtorch_does) {
  torch::manual_seed(2);
  for (int64_t i = 0; i < 20; ++i) {
    const auto got = draw(1 + i % 7, 3.0), want = copy(got);
    const double norm = torch::nn::utils::clip_grad_norm_(want, 1.0);
    EXPECT_NEAR(clipping::clip_gradients(got, 1.0), norm, 1e-4);
    expect_same(got, want);
  }
}

TEST(Clipping, small_norm_is_left_alone) {
  torch::manual_seed(3);
  const auto got = draw(5, 1e-3), want = copy(got);
  clipping::clip_gradients(got, 1.0);
  expect_same(got, want);
}

TEST(Clipping, non_finite_norm_is_refused) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const auto got = draw(3, 1.0);
    got[0].grad().fill_(bad);
    const auto want = copy(got);
    EXPECT_THROW(clipping::clip_gradients_checked(got, 1.0), std::runtime_error);
    EXPECT_TRUE(torch::equal(got[1].grad(), want[1].grad()));
  }
}

TEST(Clipping, waits_for_the_end_of_warmup) {
  const auto got = draw(5, 9.0), want = copy(got);
  EXPECT_FALSE(clipping::clip_after_warmup(got, 1.0, 9, 10));
  expect_same(got, want);
  EXPECT_TRUE(clipping::clip_after_warmup(got, 1.0, 10, 10));
  EXPECT_LE(clipping::total_norm(got), 1.0001);
}

}  // namespace
