// One JSON object read field by field, strictly: each refusal names the path of the field and its
// value.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.hpp"

namespace gradlab::record {

// A double as JSON: the strings "inf", "-inf" and "nan" where JSON has no number.
nlohmann::ordered_json number_to_json(double value);

class JsonReader {
 public:
  // `path` is "" for the whole record, else "tasks[1].checks[0]". Throws when `json` is no object.
  JsonReader(const nlohmann::json& json, std::string origin, std::string path);

  const nlohmann::json& any(const char* key);
  std::string text(const char* key);
  std::string word(const char* key, const std::vector<std::string_view>& allowed);
  Verdict verdict(const char* key);
  bool flag(const char* key);
  std::int64_t whole(const char* key, std::int64_t least, std::int64_t most);
  std::optional<std::int64_t> whole_or_null(const char* key, std::int64_t least, std::int64_t most);
  double seconds(const char* key);                        // finite, >= 0
  std::optional<double> number_or_null(const char* key);  // any kind of number
  std::vector<std::string> texts(const char* key);
  std::vector<JsonReader> objects(const char* key);
  std::optional<JsonReader> object_or_null(const char* key);
  JsonReader object(const char* key);
  bool has(const char* key) const { return json_->contains(key); }

  void finish() const;  // throws for a field that was not read

  [[noreturn]] void refuse(const char* key, std::string_view must) const;

 private:
  std::string path_of(std::string_view key) const;

  const nlohmann::json* json_;
  std::string origin_;
  std::string path_;
  std::vector<std::string_view> read_;
};

}  // namespace gradlab::record
