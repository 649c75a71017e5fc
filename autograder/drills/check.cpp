#include "drills/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drills/text.hpp"
#include "drills/typed.hpp"

namespace gradlab::drills {
namespace {

using Result = Checked::Result;

bool is_near(double typed, double value, double tolerance) {
  if (std::isnan(typed) || std::isnan(value)) return std::isnan(typed) && std::isnan(value);
  if (std::isinf(typed) || std::isinf(value)) return typed == value;
  // An exact answer that is no short decimal (0.1 + 0.2) still differs in its last bits.
  return std::abs(typed - value) <= std::max(tolerance, 1e-9) * std::abs(value);
}

bool are_near(const std::vector<double>& typed, const std::vector<double>& values,
              double tolerance) {
  if (typed.size() != values.size()) return false;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    if (!is_near(typed[i], values[i], tolerance)) return false;
  }
  return true;
}

Checked no_answer(std::string told) { return {Result::kNoAnswer, "", std::move(told)}; }

// "7 steps" and "step 7" without the unit.
std::string without_unit(std::string text, std::string unit) {
  if (unit.empty()) return text;
  if (unit.ends_with('s')) unit.pop_back();
  for (const auto& word : {unit + "s", unit}) {
    if (const auto at = text.find(word); at != std::string::npos) text.erase(at, word.size());
  }
  return text;
}

Checked check_numbers(const Question& question, const Numbers& answer, std::string_view typed) {
  const std::string text = without_unit(plain_word(typed), answer.unit);
  std::vector<double> values;
  if (answer.values.size() == 1) {
    if (const auto value = typed_number(text)) values = {*value};
  } else if (const auto several = typed_numbers(text)) {
    values = *several;
  }
  if (values.empty() && text.find(',') != std::string::npos) {
    return no_answer("Write numbers without commas: 65536, 0.2.");
  }
  if (values.size() != answer.values.size()) {
    return no_answer(fmt::format("That is not {}. 0.2, 1/5, 2^16 and 1e-3 are understood.",
                                 answer.values.size() == 1 ? "a number" : form_of(question)));
  }
  const bool also = std::any_of(answer.also.begin(), answer.also.end(), [&](double other) {
    return is_near(values.front(), other, answer.tolerance);
  });
  if (also || are_near(values, answer.values, answer.tolerance)) return {Result::kRight, "", ""};
  for (const auto& miss : question.misses) {
    if (are_near(values, miss.values, answer.tolerance)) {
      return {Result::kWrong, miss.mistake, ""};
    }
  }
  return {Result::kWrong, "", ""};
}

Checked chosen(const Choices& answer, std::size_t index) {
  if (index == answer.right) return {Result::kRight, "", ""};
  return {Result::kWrong, answer.options[index].mistake, ""};
}

Checked check_choice(const Choices& answer, std::string_view typed) {
  const std::string word = plain_word(typed);
  const auto index = typed_number(word);
  const auto count = static_cast<double>(answer.options.size());
  if (answer.listed && index && *index >= 1 && *index <= count && *index == std::floor(*index)) {
    return chosen(answer, static_cast<std::size_t>(*index) - 1);
  }
  for (std::size_t i = 0; i < answer.options.size() && !answer.listed; ++i) {
    const auto& option = answer.options[i];
    const auto& also = option.also;
    if (word == plain_word(option.text) ||
        std::find(also.begin(), also.end(), word) != also.end()) {
      return chosen(answer, i);
    }
  }
  Question of_form;
  of_form.answer = answer;
  return no_answer(fmt::format("Answer with {}.", form_of(of_form)));
}

Checked check_order(const Order& answer, std::string_view typed) {
  const auto count = static_cast<int>(answer.items.size());
  const auto order = typed_order(typed, count);
  if (!order) {
    return no_answer(fmt::format("Write each number from 1 to {} once, in order.", count));
  }
  const std::string mistake = answer.judge(*order);
  return {mistake.empty() ? Result::kRight : Result::kWrong, mistake, ""};
}

bool is_apart(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  return !are_near(a, b, 3 * tolerance) && !are_near(b, a, 3 * tolerance);
}

}  // namespace

Checked check(const Question& question, std::string_view typed) {
  if (const auto* numbers = std::get_if<Numbers>(&question.answer)) {
    return check_numbers(question, *numbers, typed);
  }
  if (const auto* choices = std::get_if<Choices>(&question.answer)) {
    return check_choice(*choices, typed);
  }
  return check_order(std::get<Order>(question.answer), typed);
}

bool is_sharp(const Question& question) {
  const auto* answer = std::get_if<Numbers>(&question.answer);
  if (answer == nullptr) return true;
  std::vector<std::vector<double>> values = {answer->values};
  for (const double other : answer->also) values.push_back({other});
  const std::size_t right = values.size();
  for (const auto& miss : question.misses) values.push_back(miss.values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = std::max(i + 1, right); j < values.size(); ++j) {
      if (!is_apart(values[i], values[j], answer->tolerance)) return false;
    }
  }
  return true;
}

}  // namespace gradlab::drills
