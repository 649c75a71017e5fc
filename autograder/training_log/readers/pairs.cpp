#include "training_log/readers/pairs.hpp"

#include <cmath>

#include "training_log/number.hpp"

namespace gradlab::training_log {
namespace {

bool ends_token(char c) { return c == ' ' || c == '\t' || c == ',' || c == '|' || c == ';'; }

bool is_name(std::string_view word) {
  if (word.empty()) return false;
  const char c = word[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The next token, and the separators before it gone.
std::string_view next_token(std::string_view& text) {
  while (!text.empty() && ends_token(text.front())) text.remove_prefix(1);
  std::size_t end = 0;
  int open = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    open += c == '(' ? 1 : c == ')' && open > 0 ? -1 : 0;
    if (open == 0 && ends_token(c)) break;
  }
  const std::string_view token = text.substr(0, end);
  text.remove_prefix(end);
  return token;
}

// "0.5", "[0.5", "0.5]", "7/500" (of a step), "1.5e-08".
std::optional<double> number_in(std::string_view token) {
  while (!token.empty() &&
         (token.front() == '[' || token.front() == '\'' || token.front() == '"')) {
    token.remove_prefix(1);
  }
  while (!token.empty() && (token.back() == ']' || token.back() == '\'' || token.back() == '"')) {
    token.remove_suffix(1);
  }
  if (const auto slash = token.find('/'); slash != std::string_view::npos && slash > 0) {
    const auto total = number_of(token.substr(slash + 1));
    return total ? number_of(token.substr(0, slash)) : std::nullopt;
  }
  return number_of(token);
}

void add(Fields& fields, std::string_view name, double number) {
  Value value;
  value.kind = Value::Kind::kNumber;
  value.number = number;
  fields.add(std::string(name), value);
}

// Behind a value: "(6.2031)", its running mean.
bool has_bad_mean(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (!text.starts_with('(')) return false;
  const auto mean = number_of(text.substr(1, text.find(')') - 1));
  return mean && !std::isfinite(*mean);
}

bool is_flag(std::string_view word) {
  return word == "True" || word == "False" || word == "true" || word == "false";
}

}  // namespace

void scan_pairs(std::string_view text, Fields& fields, bool* mean_not_finite) {
  std::string name;
  while (true) {
    const std::string_view token = next_token(text);
    if (token.empty()) return;
    const auto equals = token.find('=');
    if (equals != std::string_view::npos && equals > 0 && is_name(token)) {
      name = token.substr(0, equals);
      const std::string_view value = token.substr(equals + 1);
      if (value.empty()) continue;  // "loss= 0.5": the number is the next token
      if (const auto number = number_in(value)) {
        add(fields, name, *number);
      } else {
        fields.add(name, value);
      }
      name.clear();
      continue;
    }
    const auto number = name.empty() ? std::nullopt : number_in(token);
    if (number) {
      add(fields, name, *number);
      if (mean_not_finite != nullptr && has_bad_mean(text)) *mean_not_finite = true;
      name.clear();
    } else if (!name.empty() && is_flag(token)) {
      fields.add(name, token);
      name.clear();
    } else if (is_name(token)) {
      name = token.substr(0, token.find(':') == token.size() - 1 ? token.size() - 1 : token.npos);
    } else if (token != "=" && token != ":") {
      name.clear();
    }
  }
}

std::optional<std::int64_t> leading_count(std::string_view text, std::string_view& rest) {
  text = trimmed(text);
  std::int64_t value = 0;
  std::size_t at = 0;
  for (; at < text.size() && at < 18 && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = value * 10 + (text[at] - '0');
  }
  if (at == 0) return std::nullopt;
  rest = text.substr(at);
  return value;
}

}  // namespace gradlab::training_log
