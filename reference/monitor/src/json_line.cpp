#include "json_line.hpp"

#include <cstdio>

#include "json_object.hpp"  // the AMP library's numbers

namespace gradlab::monitor {
namespace {

// How many bytes the UTF-8 character at `at` has; 0 where it is none.
size_t character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t size = first < 0x80   ? 1
                      : first < 0xC2 ? 0
                      : first < 0xE0 ? 2
                      : first < 0xF0 ? 3
                      : first < 0xF5 ? 4
                                     : 0;
  if (size == 0 || at + size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  if (size < 3) return size;
  const unsigned char second = byte(at + 1);
  // Too long a form, a surrogate, or beyond the last character.
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : size;
}

struct Writer {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return amp::json_number(value); }
  std::string operator()(const std::string& value) const { return json_string(value); }
  std::string operator()(const std::vector<std::string>& values) const {
    std::string list = "[";
    for (const std::string& value : values) {
      if (list.size() > 1) list += ',';
      list += json_string(value);
    }
    return list + "]";
  }
};

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t size = character_at(text, at);
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += text.substr(at, size);
    }
    at += size == 0 ? 1 : size;
  }
  return out + '"';
}

JsonLine& JsonLine::raw(std::string_view key, const std::string& json) {
  if (text_.size() > 1) text_ += ',';
  text_ += json_string(key);
  text_ += ':';
  text_ += json;
  return *this;
}

JsonLine& JsonLine::add(std::string_view key, const Value& value) {
  return raw(key, std::visit(Writer(), value));
}
JsonLine& JsonLine::add(std::string_view key, const char* text) {
  return raw(key, json_string(text));
}
JsonLine& JsonLine::add(std::string_view key, const std::string& text) {
  return raw(key, json_string(text));
}
JsonLine& JsonLine::add(std::string_view key, double number) { return raw(key, Writer()(number)); }
JsonLine& JsonLine::add(std::string_view key, int64_t number) { return raw(key, Writer()(number)); }
JsonLine& JsonLine::add(std::string_view key, bool value) { return raw(key, Writer()(value)); }

JsonLine& JsonLine::add(std::string_view key, const LayerNorms& norms) {
  JsonLine object;
  for (const auto& [name, norm] : norms) object.add(name, norm);
  return raw(key, object.object());
}

JsonLine& JsonLine::add(std::string_view key, const Counts& counts) {
  JsonLine object;
  Counts::each(counts, [&](const char* name, int64_t count) { object.add(name, count); });
  return raw(key, object.object());
}

}  // namespace gradlab::monitor
