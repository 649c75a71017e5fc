#include "training_log/fields.hpp"

#include <fmt/format.h>

#include "training_log/number.hpp"

namespace gradlab::training_log {
std::optional<double> Value::as_number() const {
  if (kind == Kind::kNumber || kind == Kind::kFlag) return number;
  if (kind != Kind::kText) return std::nullopt;
  const std::string word = lower(text);
  if (word == "true" || word == "yes") return 1;
  if (word == "false" || word == "no") return 0;
  return number_of(text);
}

void Fields::add(std::string name, Value value) {
  all_.emplace_back(std::move(name), std::move(value));
}

void Fields::add(std::string_view name, std::string_view spelled) {
  Value value;
  if (const auto number = number_of(spelled)) {
    value.kind = Value::Kind::kNumber;
    value.number = *number;
  } else {
    const std::string word = lower(spelled);
    value.kind = word == "true" || word == "false" ? Value::Kind::kFlag : Value::Kind::kText;
    value.number = word == "true" ? 1 : 0;
    value.text = spelled;
  }
  add(std::string(name), std::move(value));
}

const Value* Fields::find(std::string_view name) const {
  for (const auto& [known, value] : all_) {
    if (known == name) return &value;
  }
  return nullptr;
}

std::string Fields::text(std::string_view name) const {
  const Value* value = find(name);
  return value != nullptr && value->kind == Value::Kind::kText ? value->text : "";
}

std::optional<double> Fields::number(std::string_view name) const {
  const Value* value = find(name);
  return value == nullptr ? std::nullopt : value->as_number();
}

Config config_of(const Fields& fields) {
  Config config;
  for (const auto& [name, value] : fields.all()) {
    std::string plain = plain_name(name);
    if (const auto nested = name.rfind('/'); nested != std::string::npos) {
      plain = plain_name(name.substr(nested + 1));
    }
    if (value.kind == Value::Kind::kNone) continue;
    config.emplace_back(std::move(plain), value.kind == Value::Kind::kText ? value.text
                                          : value.kind == Value::Kind::kFlag
                                              ? (value.number != 0 ? "true" : "false")
                                              : fmt::format("{}", value.number));
    if (config.size() == 256) break;
  }
  return config;
}

}  // namespace gradlab::training_log
