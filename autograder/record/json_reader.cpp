#include "record/json_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "record/errors.hpp"

namespace gradlab::record {
namespace {

using nlohmann::json;

// A value as it stands in the record, short enough for a message.
std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "…" : text;
}

std::optional<double> number_in(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

}  // namespace

nlohmann::ordered_json number_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

JsonReader::JsonReader(const json& object, std::string origin, std::string path)
    : json_(&object), origin_(std::move(origin)), path_(std::move(path)) {
  if (!object.is_object()) {
    throw errors::damaged(origin_, path_.empty() ? "record" : path_, "an object", shown(object));
  }
}

std::string JsonReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void JsonReader::refuse(const char* key, std::string_view must) const {
  const auto found = json_->find(key);
  throw errors::damaged(origin_, path_of(key), must,
                        found == json_->end() ? "missing" : shown(*found));
}

const json& JsonReader::any(const char* key) {
  read_.emplace_back(key);
  const auto found = json_->find(key);
  if (found == json_->end()) refuse(key, "there");
  return *found;
}

std::string JsonReader::text(const char* key) {
  const json& value = any(key);
  if (!value.is_string()) refuse(key, "text");
  return value.get<std::string>();
}

std::string JsonReader::word(const char* key, const std::vector<std::string_view>& allowed) {
  const json& value = any(key);
  const bool good =
      value.is_string() && std::find(allowed.begin(), allowed.end(),
                                     value.get_ref<const std::string&>()) != allowed.end();
  if (!good) refuse(key, fmt::format("{}", fmt::join(allowed, " or ")));
  return value.get<std::string>();
}

Verdict JsonReader::verdict(const char* key) {
  const json& value = any(key);
  const auto verdict = value.is_string() ? verdict_from(value.get_ref<const std::string&>())
                                         : std::optional<Verdict>();
  if (!verdict) refuse(key, "a verdict");
  return *verdict;
}

bool JsonReader::flag(const char* key) {
  if (!any(key).is_boolean()) refuse(key, "true or false");
  return any(key).get<bool>();
}

std::int64_t JsonReader::whole(const char* key, std::int64_t least, std::int64_t most) {
  const json& value = any(key);
  // A number above the range of int64 is stored unsigned, and get<int64_t> would wrap it round.
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() ||
       value.get<std::uint64_t>() <= std::uint64_t(std::numeric_limits<std::int64_t>::max()));
  if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    refuse(key, fmt::format("a whole number from {} to {}", least, most));
  }
  return value.get<std::int64_t>();
}

std::optional<std::int64_t> JsonReader::whole_or_null(const char* key, std::int64_t least,
                                                      std::int64_t most) {
  if (any(key).is_null()) return std::nullopt;
  return whole(key, least, most);
}

double JsonReader::seconds(const char* key) {
  const json& value = any(key);
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
    refuse(key, "a number of seconds, 0 or more");
  }
  return value.get<double>();
}

std::optional<double> JsonReader::number_or_null(const char* key) {
  const json& value = any(key);
  if (value.is_null()) return std::nullopt;
  const auto number = number_in(value);
  if (!number) refuse(key, "a number, \"inf\", \"-inf\", \"nan\" or null");
  return number;
}

std::vector<std::string> JsonReader::texts(const char* key) {
  const json& value = any(key);
  const bool good = value.is_array() && std::all_of(value.begin(), value.end(),
                                                    [](const json& v) { return v.is_string(); });
  if (!good) refuse(key, "an array of text");
  return value.get<std::vector<std::string>>();
}

std::vector<JsonReader> JsonReader::objects(const char* key) {
  const json& value = any(key);
  if (!value.is_array()) refuse(key, "an array");
  std::vector<JsonReader> result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    result.emplace_back(value[i], origin_, fmt::format("{}[{}]", path_of(key), i));
  }
  return result;
}

JsonReader JsonReader::object(const char* key) { return {any(key), origin_, path_of(key)}; }

std::optional<JsonReader> JsonReader::object_or_null(const char* key) {
  if (any(key).is_null()) return std::nullopt;
  return object(key);
}

void JsonReader::finish() const {
  for (const auto& [key, value] : json_->items()) {
    if (std::find(read_.begin(), read_.end(), key) == read_.end()) {
      throw errors::damaged(origin_, path_of(key), "left out, no such field is known",
                            shown(value));
    }
  }
}

}  // namespace gradlab::record
