#include "drills/typed.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gradlab::drills {
namespace {

// A product of powers and quotients, read from the left.
class Reading {
 public:
  explicit Reading(std::string_view text) : text_(text) {}

  std::optional<double> whole() {
    auto value = power();
    while (value && !rest().empty()) {
      const bool divides = take("/");
      if (!divides && !take("*") && !take("x")) return std::nullopt;
      const auto next = power();
      if (!next || (divides && *next == 0)) return std::nullopt;
      value = divides ? *value / *next : *value * *next;
    }
    return value;
  }

 private:
  std::string_view rest() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    return text_;
  }

  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  // -2^2 is -4, as on paper.
  std::optional<double> power() {
    const bool negative = take("-");
    if (!negative) take("+");
    auto base = decimal();
    if (base && (take("^") || take("**"))) {
      const bool bracket = take("(");
      const bool below = take("-");
      const auto exponent = decimal();
      if (!exponent || (bracket && !take(")"))) return std::nullopt;
      base = std::pow(*base, below ? -*exponent : *exponent);
    }
    if (!base || !(negative)) return base;
    return -*base;
  }

  std::optional<double> decimal() {
    const auto text = rest();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || text.front() == '-') return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  }

  std::string_view text_;
};

bool is_between(char c) {
  return c == ' ' || c == ',' || c == ';' || c == '[' || c == ']' || c == '-' || c == '>';
}

}  // namespace

std::string plain_word(std::string_view text) {
  std::string word(text);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) {
    return c == '\t' || c == '\r' ? ' ' : static_cast<char>(std::tolower(c));
  });
  const auto first = word.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return word.substr(first, word.find_last_not_of(' ') - first + 1);
}

std::optional<double> typed_number(std::string_view text) {
  std::string word = plain_word(text);
  while (word.starts_with('=') || word.starts_with('~')) word = plain_word(word.substr(1));
  if (word.empty() || word.starts_with("0x")) return std::nullopt;  // no hexadecimal, no 0 times 10
  return Reading(word).whole();
}

std::optional<std::vector<double>> typed_numbers(std::string_view text) {
  std::vector<double> values;
  std::string word;
  const auto end_word = [&] {
    if (word.empty()) return true;
    const auto value = typed_number(word);
    if (value) values.push_back(*value);
    word.clear();
    return value.has_value();
  };
  for (const char c : plain_word(text)) {
    const bool between = c == ' ' || c == ',' || c == ';' || c == '[' || c == ']';
    if (!between) {
      word += c;
    } else if (!end_word()) {
      return std::nullopt;
    }
  }
  if (!end_word() || values.empty()) return std::nullopt;
  return values;
}

std::optional<std::vector<int>> typed_order(std::string_view text, int count) {
  std::vector<int> order;
  for (const char c : plain_word(text)) {
    if (is_between(c)) continue;
    const int index = c - '1';
    if (index < 0 || index >= count) return std::nullopt;
    if (std::find(order.begin(), order.end(), index) != order.end()) return std::nullopt;
    order.push_back(index);
  }
  if (static_cast<int>(order.size()) != count) return std::nullopt;
  return order;
}

}  // namespace gradlab::drills
