// Numbers and orders as people type them.
#include <gmock/gmock.h>

#include <cmath>

#include "drills/check.hpp"
#include "drills/text.hpp"
#include "drills/typed.hpp"

namespace gradlab::drills {
namespace {

TEST(TypedNumber, is_understood_in_many_spellings) {
  const std::pair<const char*, double> all[] = {
      {"0.2", 0.2},      {".2", 0.2},        {"1/5", 0.2},      {" 1 / 5 ", 0.2},
      {"2^16", 65536},   {"2**16", 65536},   {"2^-3", 0.125},   {"2**(-3)", 0.125},
      {"1e-3", 1e-3},    {"1E-3", 1e-3},     {"10^-3", 1e-3},   {"3 * 10^4", 3e4},
      {"3x10^4", 3e4},   {"-2^2", -4},       {"+5", 5},         {"= 5", 5},
      {"~5", 5},         {"1/2^4", 0.0625},  {"\t7\r", 7},      {"-inf", -INFINITY},
      {"INF", INFINITY}, {"65504.0", 65504}, {"1/3/2", 1.0 / 6}};
  for (const auto& [text, value] : all) {
    const auto got = typed_number(text);
    ASSERT_TRUE(got.has_value()) << text;
    EXPECT_DOUBLE_EQ(*got, value) << text;
  }
  EXPECT_TRUE(std::isnan(*typed_number("nan")));
}

TEST(TypedNumber, is_not_guessed) {
  for (const char* text : {"", " ", "foo", "1,5", "65,536", "1 2", "1/", "/5", "2^", "2^^3", "1/0",
                           "--1", "1e", "0x10", "2**(3", "5 apples", "1..2", "="}) {
    EXPECT_EQ(typed_number(text), std::nullopt) << text;
  }
}

TEST(TypedNumbers, may_have_brackets_and_commas) {
  EXPECT_THAT(*typed_numbers("8 16 4"), testing::ElementsAre(8, 16, 4));
  EXPECT_THAT(*typed_numbers("[8, 16, 4]"), testing::ElementsAre(8, 16, 4));
  EXPECT_THAT(*typed_numbers("2^3;1/2"), testing::ElementsAre(8, 0.5));
  EXPECT_EQ(typed_numbers("8 x 4 foo"), std::nullopt);
  EXPECT_EQ(typed_numbers("[]"), std::nullopt);
}

TEST(TypedOrder, names_each_place_once) {
  for (const char* text :
       {"3 1 4 2", "3142", "3,1,4,2", "3-1-4-2", "3 -> 1 -> 4 -> 2", " 31 42 "}) {
    EXPECT_THAT(*typed_order(text, 4), testing::ElementsAre(2, 0, 3, 1)) << text;
  }
  for (const char* text : {"", "3 1 4", "3 1 4 4", "3 1 4 5", "0 1 2 3", "a b c d", "3 1 4 2 1"}) {
    EXPECT_EQ(typed_order(text, 4), std::nullopt) << text;
  }
}

TEST(Tolerance, is_relative_and_the_one_that_the_question_states) {
  const auto q = ask_number("?", 0.2, 0.005);
  EXPECT_EQ(form_of(q), "a number, within 0.5 %");
  EXPECT_EQ(check(q, "0.2009").result, Checked::Result::kRight);
  EXPECT_EQ(check(q, "0.1991").result, Checked::Result::kRight);
  EXPECT_EQ(check(q, "0.2011").result, Checked::Result::kWrong);
  EXPECT_EQ(check(q, "nan").result, Checked::Result::kWrong);
  EXPECT_EQ(check(q, "inf").result, Checked::Result::kWrong);
}

TEST(Tolerance, of_an_exact_number_is_none) {
  const auto q = ask_number("?", 64, 0, "steps");
  EXPECT_EQ(form_of(q), "how many steps");
  for (const char* text : {"64", "64 steps", "step 64", "Step 64", "2^6"}) {
    EXPECT_EQ(check(q, text).result, Checked::Result::kRight) << text;
  }
  EXPECT_EQ(check(q, "65").result, Checked::Result::kWrong);
  EXPECT_EQ(check(q, "64 apples").result, Checked::Result::kNoAnswer);
}

TEST(Tolerance, of_a_place_names_what_it_is) {
  const auto q = ask_number("?", 7, 0, "line");
  EXPECT_EQ(form_of(q), "the number of a line");
  for (const char* text : {"7", "line 7", "lines 7"}) {
    EXPECT_EQ(check(q, text).result, Checked::Result::kRight) << text;
  }
}

TEST(Commas, are_told_apart_from_nonsense) {
  EXPECT_THAT(check(ask_number("?", 65536), "65,536").told, testing::HasSubstr("without commas"));
}

TEST(Maths, has_a_plain_form_and_one_for_mathjax) {
  const std::string text = "a < b: " + maths("s / 2", "\\frac{s}{2}") + ", " + number(1e-6);
  EXPECT_EQ(plain_text(text), "a < b: s / 2, 1e-06");
  EXPECT_EQ(html_text(text), "a &lt; b: \\(\\frac{s}{2}\\), \\(10^{-6}\\)");
  EXPECT_EQ(html_text(number(2.5e-7)), "\\(2.5\\times10^{-7}\\)");
}

}  // namespace
}  // namespace gradlab::drills
