#include "drills/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gradlab::drills {
namespace {

constexpr char kBegin = '\x01', kBetween = '\x02', kEnd = '\x03';

std::string latex_number(double value) {
  const std::string plain = shown(value);
  const auto e = plain.find('e');
  if (e == std::string::npos) return plain == "inf" ? "\\infty" : plain;
  const std::string digits = plain.substr(0, e);
  std::string power = fmt::format("10^{{{}}}", std::stoi(plain.substr(e + 1)));
  if (digits == "1") return power;
  if (digits == "-1") return "-" + power;
  return digits + "\\times" + power;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n') {
      out += "<br>";
    } else {
      out += c == '\t' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace

std::string maths(std::string_view plain, std::string_view latex) {
  return fmt::format("{}{}{}{}{}", kBegin, plain, kBetween, latex, kEnd);
}

std::string number(double value) { return maths(shown(value), latex_number(value)); }

std::string shown(double value) {
  if (std::isfinite(value) && value == std::round(value) && std::abs(value) < 1e15) {
    return fmt::format("{:.0f}", value);
  }
  return fmt::format("{:.6g}", value);
}

std::string shown(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : " ") + shown(value);
  return out;
}

std::string vector_text(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : ", ") + shown(value);
  return maths("[" + out + "]", "[" + out + "]");
}

std::string plain_text(std::string_view text) {
  std::string out;
  bool latex = false;
  for (const char c : text) {
    if (c == kBetween || c == kEnd) latex = c == kBetween;
    if (!latex && c != kBegin && c != kEnd) out += c;
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = text.find(kBegin, at);
    out += escaped(text.substr(at, begin - at));
    if (begin == std::string_view::npos) break;
    const auto between = text.find(kBetween, begin), end = text.find(kEnd, between);
    out += fmt::format("\\({}\\)", escaped(text.substr(between + 1, end - between - 1)));
    at = end + 1;
  }
  return out;
}

}  // namespace gradlab::drills
