// One line of a record: a strict JSON object. Numbers that are not finite are the strings "inf",
// "-inf" and "nan".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gradlab/monitor/event.hpp"

namespace gradlab::monitor {

// With quotes, escaped; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

class JsonLine {
 public:
  JsonLine& add(std::string_view key, const Value& value);
  JsonLine& add(std::string_view key, const char* text);
  JsonLine& add(std::string_view key, const std::string& text);
  JsonLine& add(std::string_view key, double number);
  JsonLine& add(std::string_view key, int64_t number);
  JsonLine& add(std::string_view key, bool value);
  // null for none
  template <typename T>
  JsonLine& add(std::string_view key, const std::optional<T>& value) {
    return value ? add(key, *value) : raw(key, "null");
  }
  JsonLine& add(std::string_view key, const LayerNorms& norms);
  JsonLine& add(std::string_view key, const Counts& counts);

  // The object and "\n".
  std::string text() const { return text_ + "}\n"; }
  std::string object() const { return text_ + "}"; }

 private:
  JsonLine& raw(std::string_view key, const std::string& json);

  std::string text_ = "{";
};

}  // namespace gradlab::monitor
