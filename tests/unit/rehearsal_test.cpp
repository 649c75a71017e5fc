// The reference's answers are kept by the question, and no two questions are taken for one.
#include "judge/rehearsal.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace gradlab {
namespace {

using testing::ElementsAre;

// Answers with the number of times it was asked.
class Counting : public Subject {
 public:
  std::vector<Observation> observe(const std::string&, const std::vector<Case>& cases) override {
    ++asked;
    return std::vector<Observation>(cases.size(), Observation().add("asked", double(asked)));
  }
  int asked = 0;
};

class RememberingTest : public testing::Test {
 protected:
  double learn(const Case& in) { return remembering_.learn("run", {in}).front().number("asked"); }
  double ask(const Case& in, const std::string& experiment = "run") {
    return remembering_.observe(experiment, {in}).front().number("asked");
  }

  Counting reference_;
  Remembering remembering_{reference_};
};

TEST_F(RememberingTest, what_was_learned_is_asked_once) {
  const auto in = Case().parameter(torch::ones({2}), torch::ones({2})).number("max_norm", 1);
  const auto again = Case().parameter(torch::ones({2}), torch::ones({2})).number("max_norm", 1);
  EXPECT_EQ(learn(in), 1);
  EXPECT_EQ(learn(again), 1);
  EXPECT_EQ(ask(again), 1);
  EXPECT_EQ(reference_.asked, 1);
}

TEST_F(RememberingTest, what_was_only_asked_or_is_forgotten_is_asked_again) {
  const auto in = Case().number("x", 1);
  EXPECT_EQ(ask(in), 1);
  EXPECT_EQ(ask(in), 2);
  EXPECT_EQ(learn(in), 3);
  remembering_.forget();
  EXPECT_EQ(ask(in), 4);
}

TEST_F(RememberingTest, questions_that_differ_in_a_bit_are_two) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Case> all = {
      Case().number("x", 0.0),
      Case().number("x", -0.0),
      Case().number("x", nan),
      Case().integer("x", 0),
      Case().word("x", "0"),
      Case().add("x", torch::zeros({2})),
      Case().add("x", torch::zeros({2}).neg()),
      Case().add("x", torch::zeros({2}, torch::kHalf)),
      Case().add("x", torch::zeros({1, 2})),
      Case().add("x", torch::zeros({1, 2}).t()),
      Case().add("x", torch::zeros({2, 2})),
      Case().add("x", torch::zeros({2, 2}).t()),
      Case().parameter(torch::zeros({2}), torch::Tensor()),
      Case().parameter(torch::zeros({2}), torch::Tensor(), false),
  };
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(learn(all[i]), i + 1) << i;
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(ask(all[i]), i + 1) << i;
  EXPECT_EQ(ask(all.front(), "another"), all.size() + 1);
}

}  // namespace
}  // namespace gradlab
