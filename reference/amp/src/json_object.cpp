#include "json_object.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "errors.hpp"

namespace gradlab::amp {
namespace {

constexpr int kDeepest = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::map<std::string, JsonValue> whole() {
    std::map<std::string, JsonValue> all = object(0);
    if (peek() != '\0') fail("there is more text after the object");
    return all;
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw errors::malformed_state(std::string(why) + ", at byte " + std::to_string(at_));
  }

  // The next character that is no space; 0 at the end.
  char peek() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void expect(char wanted, const char* why) {
    if (peek() != wanted) fail(why);
    ++at_;
  }

  // Whether another element follows.
  bool another(char end) {
    if (peek() == end) {
      ++at_;
      return false;
    }
    expect(',', "an element does not end");
    return true;
  }

  std::map<std::string, JsonValue> object(int depth) {
    expect('{', "it is no JSON object");
    std::map<std::string, JsonValue> all;
    if (peek() == '}') {
      ++at_;
      return all;
    }
    do {
      if (peek() != '"') fail("a key has no quotes");
      const std::string key = string();
      expect(':', "a key has no value");
      if (!all.emplace(key, value(depth + 1)).second) fail("a key comes twice");
    } while (another('}'));
    return all;
  }

  JsonValue value(int depth) {
    if (depth > kDeepest) fail("values are nested too deep");
    JsonValue value;
    const char first = peek();
    if (first == '"') {
      value.in_words = string();
      value.is_number = value.in_words == "inf" || value.in_words == "-inf";
      value.number = std::numeric_limits<double>::infinity();
      if (value.in_words == "-inf") value.number = -value.number;
      value.in_words = '"' + value.in_words + '"';
    } else if (first == '{') {
      object(depth);
      value.in_words = "an object";
    } else if (first == '[') {
      list(depth);
      value.in_words = "a list";
    } else if (first == '-' || (first >= '0' && first <= '9')) {
      value.is_number = true;
      value.number = number();
    } else {
      value.in_words = word();
    }
    return value;
  }

  void list(int depth) {
    ++at_;
    if (peek() == ']') {
      ++at_;
      return;
    }
    do {
      value(depth + 1);
    } while (another(']'));
  }

  double number() {
    double value = 0;
    const char* const end = text_.data() + text_.size();
    const auto read = std::from_chars(text_.data() + at_, end, value);
    if (read.ec != std::errc()) fail("a number cannot be read");
    at_ = static_cast<size_t>(read.ptr - text_.data());
    return value;
  }

  std::string word() {
    for (const std::string_view known : {"true", "false", "null"}) {
      if (text_.substr(at_, known.size()) != known) continue;
      at_ += known.size();
      return std::string(known);
    }
    fail("a value cannot be read");
  }

  // The characters between the quotes; escapes stay as written: no key of a state has one.
  std::string string() {
    std::string out;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      out += c;
      if (c == '\\' && ++at_ < text_.size()) out += text_[at_];
    }
    fail("a string does not end");
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::map<std::string, JsonValue> json_object(std::string_view text) { return Reader(text).whole(); }

std::string json_number(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string text(digits, end);
  // Python reads "2" as an int; a scale is a float.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace gradlab::amp
