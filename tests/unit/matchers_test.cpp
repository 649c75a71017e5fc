// The comparisons that decide points: what must never pass, and what must never fail.
#include "judge/matchers.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "judge/context.hpp"

namespace gradlab {
namespace {

class Idle : public Subject {
  std::vector<Observation> observe(const std::string&, const std::vector<Case>&) override {
    return {};
  }
};

class Matchers : public testing::Test {
 protected:
  void SetUp() override {
    context_.begin("a check");
    set_context(&context_);
  }
  static bool number(double got, NumberRule rule) {
    return testing::Matches(Number("x", std::move(rule)))(Observation{}.add("x", got));
  }
  static bool tensors(std::vector<torch::Tensor> got, TensorRule rule) {
    return testing::Matches(Tensors("x", std::move(rule)))(Observation{}.add("x", std::move(got)));
  }

  Idle idle_;
  CheckContext context_{idle_, idle_, "1"};
};

TEST(MismatchTest, place_names_one_of_a_list) {
  const auto place = [](const std::string& value) {
    Mismatch mismatch;
    mismatch.value = value;
    mismatch.tensor = 0;
    return mismatch.place();
  };
  EXPECT_EQ(place("gradients"), "gradient 0");
  EXPECT_EQ(place("aliases"), "alias 0");
  EXPECT_EQ(place("losses"), "loss 0");
  EXPECT_EQ(place("momentum_buffers"), "momentum buffer 0");
}

TEST_F(Matchers, nan_is_never_near_a_number) {
  EXPECT_FALSE(number(NAN, Near(5, 0.05)));
  EXPECT_FALSE(number(5, Near(NAN, 0.05)));
  EXPECT_FALSE(number(NAN, Near(5, INFINITY)));
  EXPECT_TRUE(number(NAN, Near(NAN, 0)));
}

TEST_F(Matchers, infinities_compare_by_sign) {
  EXPECT_TRUE(number(INFINITY, Near(INFINITY, 0)));
  EXPECT_FALSE(number(-INFINITY, Near(INFINITY, 1e300)));
  EXPECT_FALSE(number(INFINITY, Near(5, 1e300)));
}

TEST_F(Matchers, the_tolerance_is_kept_on_both_sides) {
  EXPECT_TRUE(number(5.04, Near(5, 0.05)));
  EXPECT_TRUE(number(4.96, Near(5, 0.05)));
  EXPECT_FALSE(number(5.06, Near(5, 0.05)));
  EXPECT_FALSE(number(-5, Near(5, 0.05)));
}

TEST_F(Matchers, either_right_answer_counts) {
  EXPECT_TRUE(number(INFINITY, NearAnyOf({1e20, INFINITY}, 1e15)));
  EXPECT_TRUE(number(1e20, NearAnyOf({1e20, INFINITY}, 1e15)));
  EXPECT_FALSE(number(0, NearAnyOf({1e20, INFINITY}, 1e15)));
}

TEST_F(Matchers, one_nan_in_a_tensor_is_found_and_placed) {
  const auto want = torch::ones({2, 3});
  auto got = want.clone();
  got[1][2] = NAN;
  EXPECT_FALSE(tensors({want, got}, CloseTo({want, want}, {1e-3, 1e-3})));
  context_.fail("");
  const auto& mismatch = *context_.failures.back().mismatch;
  EXPECT_EQ(mismatch.place(), "x 1, element [1,2]");
  EXPECT_EQ(mismatch.got, "nan");
  EXPECT_EQ(mismatch.differing, 1);
  EXPECT_EQ(mismatch.of, 12);
}

TEST_F(Matchers, a_missing_extra_or_misshapen_tensor_differs) {
  const auto one = torch::ones({2});
  EXPECT_FALSE(tensors({torch::Tensor()}, BitEqualTo({one})));
  EXPECT_FALSE(tensors({one}, BitEqualTo({torch::Tensor()})));
  EXPECT_FALSE(tensors({one, one}, BitEqualTo({one})));
  EXPECT_FALSE(tensors({torch::ones({2, 1})}, BitEqualTo({one})));
  EXPECT_FALSE(tensors({one.to(torch::kFloat64)}, CloseTo({one}, {1, 1})));
  EXPECT_TRUE(tensors({torch::Tensor(), one}, BitEqualTo({torch::Tensor(), one})));
}

TEST_F(Matchers, bits_means_bits_but_no_zero_has_a_wrong_sign) {
  const auto value = torch::tensor({0.3f});
  EXPECT_FALSE(tensors({torch::nextafter(value, value + 1)}, BitEqualTo({value})));
  EXPECT_TRUE(tensors({torch::tensor({-0.0f})}, BitEqualTo({torch::tensor({0.0f})})));
}

TEST_F(Matchers, between_allows_both_rules_and_nothing_outside) {
  const auto low = torch::tensor({0.6f});
  const auto high = torch::tensor({0.5999994f});
  EXPECT_TRUE(tensors({low}, BetweenTensors({low}, {high}, {}, "either")));
  EXPECT_TRUE(tensors({high}, BetweenTensors({low}, {high}, {}, "either")));
  EXPECT_FALSE(tensors({low * 1.001}, BetweenTensors({low}, {high}, {}, "either")));
}

TEST_F(Matchers, another_kind_is_refused_however_much_is_allowed) {
  EXPECT_FALSE(number(NAN, Near(INFINITY, INFINITY)));
  EXPECT_FALSE(number(1, Near(INFINITY, INFINITY)));
  EXPECT_TRUE(number(INFINITY, Near(INFINITY, INFINITY)));
}

TEST_F(Matchers, numbers_are_shown_with_as_few_digits_as_tell_them_apart) {
  using Texts = std::pair<std::string, std::string>;
  EXPECT_EQ(shown_apart(0.3f, 0.99999666f, torch::kFloat32), Texts("0.3", "0.999997"));
  EXPECT_EQ(shown_apart(0.1 + 0.2, 0.30000001192092896), Texts("0.3", "0.30000001"));
  EXPECT_EQ(shown_apart(5, NAN), Texts("5", "nan"));
  EXPECT_EQ(shown_apart(1, 1), Texts("1", "1"));
}

TEST_F(Matchers, how_near_a_comparison_came_is_remembered) {
  number(5.01, Near(5, 0.05));
  number(5.04, Near(5, 0.05));
  number(5.2, Near(5, 1e-9));
  ASSERT_TRUE(context_.closest);
  EXPECT_NEAR(*context_.closest, 0.8, 1e-6);
}

TEST_F(Matchers, an_answer_without_the_value_is_forged) {
  EXPECT_THROW(testing::Matches(Number("norm", Near(1, 1)))(Observation{}.add("other", 1.0)),
               std::exception);
  EXPECT_EQ(context_.fault, Fault::kForged);
}

TEST_F(Matchers, the_smallest_failing_case_is_shown) {
  Case large, small;
  large.parameter(torch::ones({100}), torch::ones({100}));
  small.parameter(torch::ones({1}), torch::ones({1}));
  context_.looking_at(&large);
  context_.fail("large");
  context_.looking_at(&small);
  context_.fail("small");
  EXPECT_EQ(context_.smallest()->text, "small");
}

TEST_F(Matchers, how_a_call_ended_is_told_in_words) {
  const auto ended = [](const std::function<void()>& body) { return Observation().call(body); };
  const auto returned = ended([] {});
  const auto refused = ended([] { throw std::overflow_error("inf"); });
  const auto other = ended([] { throw std::logic_error("no"); });
  const auto number = ended([] { throw 3; });
  EXPECT_THAT(returned, Returned());
  EXPECT_THAT(refused, ThrewRuntimeError());
  for (const auto& seen : {returned, other, number}) {
    EXPECT_THAT(seen, testing::Not(ThrewRuntimeError()));
  }
}

}  // namespace
}  // namespace gradlab
