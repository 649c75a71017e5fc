#include "training_log/number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace gradlab::training_log {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// "inf" after its sign, "nan" with whatever a C library adds in brackets.
std::optional<double> word(std::string_view text, bool negative) {
  const std::string plain = lower(text);
  const std::string_view all = plain;
  const auto is_nan = [&] {
    return all == "nan" || all.starts_with("nan(") || all.starts_with("1.#qnan") ||
           all.starts_with("1.#ind") || all.starts_with("1.#snan");
  };
  if (all == "inf" || all == "infinity" || all == "1.#inf") return negative ? -kInf : kInf;
  return is_nan() ? std::optional<double>(kNan) : std::nullopt;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::optional<double> number_of(std::string_view text) {
  std::string_view rest;
  text = trimmed(text);
  for (const std::string_view wrapper : {"tensor(", "np.float32(", "np.float64(", "array("}) {
    if (text.starts_with(wrapper)) {
      text.remove_prefix(wrapper.size());
      text = trimmed(text.substr(0, text.find_first_of(",)")));
    }
  }
  const auto value = leading_number(text, rest);
  return value && rest.empty() ? value : std::nullopt;
}

std::optional<double> leading_number(std::string_view text, std::string_view& rest) {
  const std::string_view whole = text;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const bool letter = (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
  if (letter || text.starts_with("1.#")) {
    std::size_t end = text.find_first_of(" \t,;|}])");
    if (end != std::string_view::npos && text[end] == ')') {
      const bool opened = text.substr(0, end).find('(') != std::string_view::npos;
      end += opened ? 1 : 0;
    }
    const auto value = word(text.substr(0, end), negative);
    rest = end == std::string_view::npos ? std::string_view() : text.substr(end);
    return value;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  const auto used = static_cast<std::size_t>(end - text.data());
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(text.substr(0, used)).c_str(), nullptr);
  }
  rest = whole.substr(whole.size() - text.size() + used);
  return negative ? -value : value;
}

std::string shown(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::fabs(value);
  if (value == std::floor(value) && size < 1e10) return fmt::format("{:.0f}", value);
  return size >= 1e-4 && size < 1e10 ? fmt::format("{:.4g}", value) : fmt::format("{:.3g}", value);
}

std::string shown(std::optional<double> value) { return value ? shown(*value) : ""; }

std::string counted(long long value) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return value < 0 ? "-" + digits : digits;
}

}  // namespace gradlab::training_log
