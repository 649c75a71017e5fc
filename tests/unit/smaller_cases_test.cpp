// The ways to make a failing case smaller: what they keep, and that they end.
#include "judge/smaller_cases.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace gradlab {
namespace {

Case list_of(const std::vector<torch::Tensor>& gradients) {
  Case in;
  for (const auto& gradient : gradients) {
    in.parameter(gradient.defined() ? torch::ones(gradient.sizes()) : torch::ones({2}), gradient);
  }
  return in;
}

TEST(SmallerCases, each_is_smaller_or_rounder) {
  const auto in = list_of({torch::rand({3, 4}), torch::rand({5}), torch::rand({}), {}});
  const auto all = smaller_cases(in);
  EXPECT_GT(all.size(), 5u);
  for (const auto& one : all) {
    EXPECT_TRUE(one.element_count() < in.element_count() ||
                one.gradients().size() < in.gradients().size() ||
                one.describe().size() < in.describe().size());
  }
}

TEST(SmallerCases, a_parameter_keeps_its_gradient) {
  for (const auto& one : smaller_cases(list_of({torch::rand({3, 4}), {}, torch::rand({6})}))) {
    ASSERT_EQ(one.gradients().size(), one.parameter_values().size());
    for (size_t i = 0; i < one.gradients().size(); ++i) {
      if (!one.gradients()[i].defined()) continue;
      EXPECT_EQ(one.gradients()[i].sizes(), one.parameter_values()[i].sizes());
      EXPECT_TRUE(one.parameter_values()[i].requires_grad());
    }
    EXPECT_NO_THROW(one.parameters());
  }
}

TEST(SmallerCases, gaps_in_memory_neither_come_nor_go) {
  const auto strided = torch::rand({4, 6}).slice(1, 0, 6, 2);
  for (const auto& one : smaller_cases(list_of({torch::rand({4, 6}), strided}))) {
    for (const auto& gradient : one.gradients()) {
      const bool was_strided = gradient.dim() == 2 && gradient.stride(1) == 2;
      if (gradient.numel() > 4) EXPECT_EQ(was_strided, !gradient.is_contiguous());
    }
  }
  const auto halves = smaller_cases(list_of({strided}));
  ASSERT_FALSE(halves.empty());
  EXPECT_FALSE(halves.front().gradients().front().is_contiguous());
}

TEST(SmallerCases, rounding_keeps_what_is_not_finite) {
  const auto in = list_of({torch::tensor({NAN, INFINITY, 1.23456f})}).number("max_norm", 0.98765);
  const auto rounder = smaller_cases(in).back();
  const auto gradient = rounder.gradients().front();
  EXPECT_TRUE(std::isnan(gradient[0].item<float>()));
  EXPECT_TRUE(std::isinf(gradient[1].item<float>()));
  EXPECT_EQ(gradient[2].item<float>(), 1);
  EXPECT_EQ(rounder.number("max_norm"), 1);
}

TEST(SmallerCases, they_end) {
  Case in = list_of({torch::rand({8, 8}), torch::rand({7}), torch::rand({2, 3, 4})});
  int steps = 0;
  for (auto next = smaller_cases(in); !next.empty(); next = smaller_cases(in)) {
    in = next.back();  // the smallest step each time
    ASSERT_LT(++steps, 1000);
  }
  EXPECT_LE(in.element_count(), 2);
}

TEST(SmallerCases, the_plainest_case_has_none) {
  EXPECT_TRUE(smaller_cases(list_of({torch::tensor({3.0f})}).number("max_norm", 1)).empty());
  EXPECT_TRUE(smaller_cases(Case()).empty());
}

}  // namespace
}  // namespace gradlab
