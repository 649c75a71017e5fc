// A lenient reader of one JSON object or Python dict.
#include <cmath>

#include "training_log/fields.hpp"
#include "training_log/number.hpp"
#include "training_log/utf8.hpp"

namespace gradlab::training_log {
namespace {

constexpr int kMostDepth = 8;
constexpr std::size_t kMostFields = 4096;
constexpr std::size_t kMostText = 1000;  // of one text value

class Parser {
 public:
  Parser(std::string_view text, Fields& fields) : text_(text), fields_(fields) {}

  bool object(const std::string& prefix, int depth) {
    if (depth > kMostDepth || !take('{')) return false;
    blanks();
    if (take('}')) return true;
    while (true) {
      std::string name;
      blanks();
      if (!string(name)) return false;
      blanks();
      if (!take(':') || !value(prefix + name, depth)) return false;
      blanks();
      if (take('}')) return true;
      if (!take(',')) return false;
      blanks();
      if (take('}')) return true;  // Python allows a comma behind the last
    }
  }

  std::size_t at() const { return at_; }

 private:
  void blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  bool escape(std::string& out) {
    const char c = text_[at_++];
    if (c == 'u') {
      if (text_.size() - at_ < 4) return false;
      const std::string digits(text_.substr(at_, 4));
      if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
      append_utf8(out, static_cast<unsigned>(std::stoul(digits, nullptr, 16)));
      at_ += 4;
      return true;
    }
    static constexpr std::string_view kFrom = "nrtbf0";
    static constexpr char kTo[] = "\n\r\t\b\f ";
    const auto known = kFrom.find(c);
    out += known == std::string_view::npos ? c : kTo[known];
    return true;
  }

  bool string(std::string& out) {
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return false;
    const char quote = text_[at_++];
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == quote) return true;
      if (c == '\\') {
        if (at_ >= text_.size() || !escape(out)) return false;
      } else if (out.size() < kMostText) {
        out += c;
      }
    }
    return false;
  }

  // A number, true, None, tensor(1.5): up to what ends a value.
  bool bare(Value& value) {
    const std::size_t from = at_;
    int open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (open == 0 && (c == ',' || c == '}' || c == ']' || c == ')')) break;
      open += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    const std::string_view word = trimmed(text_.substr(from, at_ - from));
    if (word.empty() || at_ >= text_.size()) return false;
    if (word == "true" || word == "True" || word == "false" || word == "False") {
      value.kind = Value::Kind::kFlag;
      value.number = word[0] == 't' || word[0] == 'T' ? 1 : 0;
    } else if (const auto number = number_of(word)) {
      value.kind = Value::Kind::kNumber;
      value.number = *number;
    } else if (word != "null" && word != "None" && word.find_first_of("\"'{[:") != word.npos) {
      return false;
    }
    return true;
  }

  bool closes_list() { return take(']') || take(')'); }

  static void keep(Value& kept, const Value& value) {
    const bool texts = kept.kind == Value::Kind::kText && value.kind == Value::Kind::kText;
    if (kept.kind == Value::Kind::kNone) {
      kept = value;
    } else if (texts && kept.text.size() < kMostText) {
      kept.text += ", " + value.text;
    }
  }

  bool list(const std::string& name, int depth) {
    if (depth > kMostDepth) return false;
    ++at_;
    Value kept;
    blanks();
    while (!closes_list()) {
      Value value;
      if (!element(name, depth, value)) return false;
      keep(kept, value);
      blanks();
      if (closes_list()) break;
      if (!take(',')) return false;
      blanks();
    }
    store(name, kept);
    return true;
  }

  bool element(const std::string& name, int depth, Value& value) {
    blanks();
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c == '{') return object(name + "/", depth + 1);
    if (c == '[' || c == '(') return list(name, depth + 1);
    if (c != '"' && c != '\'') return bare(value);
    value.kind = Value::Kind::kText;
    return string(value.text);
  }

  bool value(const std::string& name, int depth) {
    blanks();
    Value read;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (!element(name, depth, read)) return false;
    if (c != '{' && c != '[' && c != '(') store(name, read);
    return true;
  }

  void store(const std::string& name, const Value& value) {
    if (fields_.all().size() < kMostFields) fields_.add(name, value);
  }

  std::string_view text_;
  Fields& fields_;
  std::size_t at_ = 0;
};

}  // namespace

bool parse_object(std::string_view text, Fields& fields, std::size_t* used) {
  Parser parser(text, fields);
  const bool whole = parser.object("", 0);
  if (used != nullptr) *used = parser.at();
  return whole;
}

}  // namespace gradlab::training_log
