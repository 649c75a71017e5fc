// A question as it is asked, its answer, and the mistakes that lead to another.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gradlab::drills {

enum class Kind { kNumber, kOrder, kBug, kLog, kDtype, kPredict, kRecall };
const char* word_of(Kind kind);  // "number", "order", "spot the bug", …

// One number or several in a row.
struct Numbers {
  std::vector<double> values;
  double tolerance = 0;      // relative; the question states it
  std::vector<double> also;  // other right answers, where one number is asked
  std::string unit;          // may stand beside an exact one: "steps" counts, "step" names
};

// One of several: by its number where they are listed, else by its name.
struct Choices {
  struct Option {
    std::string text;
    std::vector<std::string> also;  // other spellings
    std::string mistake;            // what it is to take this one; "" for the right one
  };
  std::vector<Option> options;
  std::size_t right = 0;
  bool listed = true;
};

// Items as they are shown; typed is their order, counted from 1.
struct Order {
  std::vector<std::string> items;
  // What is wrong with an order of indices from 0; "" where it is right.
  std::function<std::string(const std::vector<int>&)> judge;
  std::vector<int> right;  // one of those that are
};

// Graded by whoever answers, beside a model answer.
struct OwnWords {
  std::string model;
};

using Answer = std::variant<Numbers, Choices, Order, OwnWords>;

// A wrong number and what one does to get it.
struct NearMiss {
  std::vector<double> values;
  std::string mistake;  // "clips each tensor on its own": fits after "That is what you get if it …"
};

struct Question {
  std::string name;   // of its template: "clipping.factor"
  std::string topic;  // a lab's slug
  Kind kind = Kind::kNumber;
  std::string text;               // what is asked; may hold maths (text.hpp)
  std::vector<std::string> code;  // lines shown as they are: code or a log
  Answer answer;
  std::vector<NearMiss> misses;
  std::string hint;
  std::string why;   // told after the answer
  std::string read;  // "handouts/clipping.md"

  Question& miss(double value, std::string mistake) {
    misses.push_back({{value}, std::move(mistake)});
    return *this;
  }
  Question& miss(std::vector<double> values, std::string mistake) {
    misses.push_back({std::move(values), std::move(mistake)});
    return *this;
  }
};

// What may be typed, in words: "a number, within 1 %".
std::string form_of(const Question& question);
// The right answer as it could have been typed; of own words, the model answer.
std::string answer_of(const Question& question);

// The beginnings of questions. `tolerance` 0 asks for the exact number; a unit is of exact ones.
Question ask_number(std::string text, double value, double tolerance = 0, std::string unit = "");
Question ask_numbers(std::string text, std::vector<double> values);
// The first option is the right one until they are shuffled.
Question ask_choice(std::string text, std::vector<Choices::Option> options);

}  // namespace gradlab::drills
