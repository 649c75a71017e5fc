// Numbers and objects as trainers write them.
#include <gmock/gmock.h>

#include <cmath>

#include "training_log/fields.hpp"
#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

using ::testing::Optional;

TEST(TrainingLogNumber, every_spelling_of_c_cpp_and_python) {
  EXPECT_THAT(number_of("1e-05"), Optional(1e-5));
  EXPECT_THAT(number_of("+3"), Optional(3.0));
  EXPECT_THAT(number_of(" -2.5 "), Optional(-2.5));
  EXPECT_THAT(number_of("6.26e-294"), Optional(6.26e-294));
  EXPECT_THAT(number_of("tensor(1.5, device='cuda:0')"), Optional(1.5));
  for (const char* text : {"inf", "Infinity", "+inf", "1.#INF", "1e999"}) {
    EXPECT_THAT(number_of(text), Optional(HUGE_VAL)) << text;
  }
  EXPECT_THAT(number_of("-Infinity"), Optional(-HUGE_VAL));
  for (const char* text : {"nan", "NaN", "-nan", "nan(ind)", "-nan(snan)", "1.#QNAN"}) {
    ASSERT_TRUE(number_of(text)) << text;
    EXPECT_TRUE(std::isnan(*number_of(text))) << text;
  }
  for (const char* text : {"", "None", "null", "1.5x", "nano", "information", "-", "0x10"}) {
    EXPECT_FALSE(number_of(text)) << text;
  }
}

TEST(TrainingLogObject, bare_nan_python_words_nesting_and_lists) {
  Fields fields;
  ASSERT_TRUE(parse_object(
      R"({"a": NaN, 'b': -Infinity, "c": None, "d": True, "layers": {"fc1": 2.5}, "lr": [0.1, 0.2],
          "names": ["x", "y"], "t": (1, 2), "u": "é"})",
      fields));
  EXPECT_TRUE(std::isnan(*fields.number("a")));
  EXPECT_THAT(fields.number("b"), Optional(-HUGE_VAL));
  EXPECT_FALSE(fields.number("c"));
  EXPECT_THAT(fields.number("d"), Optional(1.0));
  EXPECT_THAT(fields.number("layers/fc1"), Optional(2.5));
  EXPECT_THAT(fields.number("lr"), Optional(0.1));
  EXPECT_EQ(fields.text("names"), "x, y");
  EXPECT_THAT(fields.number("t"), Optional(1.0));
  EXPECT_EQ(fields.text("u"), "é");
}

TEST(TrainingLogObject, what_is_broken_is_refused) {
  for (const char* text : {"{", "{\"a\"", "{\"a\": }", "{\"a\": 1", "{\"a\" 1}", "[1]", "",
                           "{\"a\": \"x}", "{a: 1}", "{\"a\": 1 \"b\": 2}", "{\"a\": [1, 2}"}) {
    Fields fields;
    EXPECT_FALSE(parse_object(text, fields)) << text;
  }
  Fields fields;
  EXPECT_FALSE(parse_object(std::string(100000, '{'), fields));
  std::string deep;
  for (int i = 0; i < 50000; ++i) deep += "{\"a\":";
  EXPECT_FALSE(parse_object(deep, fields));
}

}  // namespace
}  // namespace gradlab::training_log
