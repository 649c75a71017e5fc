#include "drills/question.hpp"

#include <fmt/format.h>

#include "drills/text.hpp"

namespace gradlab::drills {
namespace {

std::string form(const Numbers& answer) {
  if (answer.values.size() > 1) return fmt::format("{} numbers in a row", answer.values.size());
  if (answer.tolerance > 0) {
    return fmt::format("a number, within {} %", shown(100 * answer.tolerance));
  }
  if (answer.unit.empty()) return "a number, exactly";
  return answer.unit.ends_with('s') ? fmt::format("how many {}", answer.unit)
                                    : fmt::format("the number of a {}", answer.unit);
}

std::string form(const Choices& answer) {
  if (answer.listed) return fmt::format("a number from 1 to {}", answer.options.size());
  std::string names;
  for (std::size_t i = 0; i < answer.options.size(); ++i) {
    names += (i == 0 ? "" : i + 1 < answer.options.size() ? ", " : " or ");
    names += answer.options[i].text;
  }
  return names;
}

std::string form(const Order& answer) {
  return fmt::format("the {} numbers in order, such as 2 1 3 …", answer.items.size());
}

std::string form(const OwnWords&) { return "in your own words; you grade it yourself"; }

std::string right(const Numbers& answer) { return shown(answer.values); }

std::string right(const Choices& answer) {
  return answer.listed ? std::to_string(answer.right + 1) : answer.options[answer.right].text;
}

std::string right(const Order& answer) {
  std::string out;
  for (const int item : answer.right) out += fmt::format("{}{}", out.empty() ? "" : " ", item + 1);
  return out;
}

std::string right(const OwnWords& answer) { return answer.model; }

}  // namespace

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::kNumber:
      return "number";
    case Kind::kOrder:
      return "order";
    case Kind::kBug:
      return "spot the bug";
    case Kind::kLog:
      return "read a log";
    case Kind::kDtype:
      return "dtype";
    case Kind::kPredict:
      return "predict";
    case Kind::kRecall:
      return "recall";
  }
  return "";
}

std::string form_of(const Question& question) {
  return std::visit([](const auto& answer) { return form(answer); }, question.answer);
}

std::string answer_of(const Question& question) {
  return std::visit([](const auto& answer) { return right(answer); }, question.answer);
}

Question ask_number(std::string text, double value, double tolerance, std::string unit) {
  Question question;
  question.text = std::move(text);
  question.answer = Numbers{{value}, tolerance, {}, std::move(unit)};
  return question;
}

Question ask_numbers(std::string text, std::vector<double> values) {
  Question question;
  question.text = std::move(text);
  question.answer = Numbers{std::move(values), 0, {}, ""};
  return question;
}

Question ask_choice(std::string text, std::vector<Choices::Option> options) {
  Question question;
  question.text = std::move(text);
  question.answer = Choices{std::move(options), 0, true};
  return question;
}

}  // namespace gradlab::drills
