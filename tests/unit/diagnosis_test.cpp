// Which known mistake is named, and when none is: on a lab of one function with two tasks.
#include "judge/diagnosis.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "judge/likeness.hpp"

namespace gradlab {
namespace {

using testing::ElementsAre;

using Function = double (*)(double);

double unchanged(double x) { return x; }
double squared(double x) { return x * x; }
double zero(double) { return 0; }
double rounded(double x) { return std::round(std::abs(x)); }

AnyImpl made_of(Function function) { return std::make_shared<Function>(function); }

void add(const std::string& name, Function function, std::vector<std::string> caught_by) {
  implementations().bugs.push_back({{name, "", "", std::move(caught_by)}, made_of(function)});
}

// |x| is asked for: "negative" is a check of task 1, "large" one of task 2.
class Diagnosing : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lab().experiments["run"] = [](const void* impl, const Case& in) {
      return Observation().add("y", (*static_cast<const Function*>(impl))(in.number("x")));
    };
    add("forgets_the_sign", unchanged, {"negative"});
    add("squares", squared, {"negative", "large"});
    add("zero_for_all", zero, {"negative", "large"});
  }

  static Judged passed(const std::string& check, int task) { return {check, task, true, {}}; }
  static Judged failed(const std::string& check, int task, Function student,
                       const std::vector<double>& inputs) {
    Asked asked{"run", {}, {}};
    for (const double x : inputs) {
      asked.cases.push_back(Case().number("x", x));
      asked.got.push_back(Observation().add("y", student(x)));
    }
    return {check, task, false, {asked}};
  }

  static std::vector<std::string> named(const std::vector<Judged>& judged, int runs = 100) {
    std::vector<std::string> words;
    for (const auto& diagnosis : diagnose(judged, runs)) {
      for (const auto* bug : diagnosis.bugs) words.push_back(diagnosis.check + ": " + bug->name);
    }
    return words;
  }
};

TEST_F(Diagnosing, one_mistake_is_named_for_every_check_that_it_fails) {
  EXPECT_THAT(named({failed("negative", 1, squared, {-2, -3}), failed("large", 2, squared, {9})}),
              ElementsAre("negative: squares", "large: squares"));
}

TEST_F(Diagnosing, a_mistake_that_a_passed_check_would_catch_is_not_named) {
  // On -0 all give 0; "large" tells that it was neither of the two that fail it.
  EXPECT_THAT(named({failed("negative", 1, unchanged, {-0.0}), passed("large", 2)}),
              ElementsAre("negative: forgets_the_sign"));
}

TEST_F(Diagnosing, two_mistakes_are_named_task_by_task) {
  EXPECT_THAT(named({failed("negative", 1, unchanged, {-2}), failed("large", 2, zero, {9})}),
              ElementsAre("negative: forgets_the_sign", "large: zero_for_all"));
}

TEST_F(Diagnosing, an_unknown_mistake_gets_no_name) {
  EXPECT_THAT(named({failed("negative", 1, rounded, {-2.25}), failed("large", 2, rounded, {9.5})}),
              testing::IsEmpty());
}

TEST_F(Diagnosing, one_observation_that_differs_is_enough) {
  auto judged = failed("large", 2, squared, {9, 10, 11});
  judged.asked[0].got[2] = Observation().add("y", 11.0);
  EXPECT_THAT(named({judged}), testing::IsEmpty());
}

TEST_F(Diagnosing, a_task_that_is_not_finished_is_left_out) {
  EXPECT_THAT(named({failed("negative", 1, unchanged, {-2}), failed("large", 2, zero, {9})}, 1),
              testing::IsEmpty());
}

Case floats() { return Case().add("values", torch::ones({3})); }

TEST(Likeness, any_order_of_a_sum_is_alike_and_a_real_difference_is_not) {
  const auto seen = [](double norm) { return Observation().add("norm", norm); };
  EXPECT_TRUE(alike(floats(), seen(5), seen(5.00002)));
  EXPECT_FALSE(alike(floats(), seen(5), seen(5.01)));
  EXPECT_FALSE(alike(floats(), seen(5), seen(-5)));
  const auto doubles = Case().add("values", torch::ones({3}, torch::kFloat64));
  EXPECT_FALSE(alike(doubles, seen(5), seen(5.00002)));
  const auto halves = Case().add("values", torch::ones({3}, torch::kHalf));
  EXPECT_TRUE(alike(halves, seen(5), seen(5.01)));
}

TEST(Likeness, what_is_not_finite_compares_by_kind) {
  const auto seen = [](float element) {
    return Observation().add("gradients", {torch::tensor({1.0f, element})});
  };
  EXPECT_TRUE(alike(floats(), seen(NAN), seen(NAN)));
  EXPECT_TRUE(alike(floats(), seen(INFINITY), seen(INFINITY)));
  EXPECT_FALSE(alike(floats(), seen(INFINITY), seen(-INFINITY)));
  EXPECT_FALSE(alike(floats(), seen(NAN), seen(1)));
}

TEST(Likeness, a_missing_gradient_differs_from_zeros) {
  const auto seen = [](const torch::Tensor& gradient) {
    return Observation().add("gradients", {gradient});
  };
  EXPECT_TRUE(alike(floats(), seen({}), seen({})));
  EXPECT_FALSE(alike(floats(), seen({}), seen(torch::zeros({2}))));
}

TEST(Likeness, a_trace_explains_and_is_not_compared) {
  const auto seen = [](const std::string& word, const std::string& value) {
    return Observation().add_word(word, value);
  };
  EXPECT_TRUE(alike(floats(), seen("trace", "scale"), seen("trace", "step")));
  EXPECT_FALSE(alike(floats(), seen("other", "scale"), seen("other", "step")));
}

TEST(Likeness, an_exception_counts_by_its_type_and_not_by_its_words) {
  const auto threw = [](const std::string& what) {
    Observation seen;
    seen.threw = what;
    return seen;
  };
  EXPECT_TRUE(alike(floats(), threw("c10::Error: one"), threw("c10::Error: other")));
  EXPECT_FALSE(alike(floats(), threw("c10::Error: one"), threw("std::logic_error: one")));
  EXPECT_FALSE(alike(floats(), threw("c10::Error: one"), Observation()));
}

}  // namespace
}  // namespace gradlab
