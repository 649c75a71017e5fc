#include "manifest/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "manifest/errors.hpp"

namespace gradlab::manifest {
namespace {

// A value as it stands in the file, short enough for a message.
std::string shown(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return node.as_array()->empty() ? "an empty array" : "an array";
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  std::string text = out.str();
  if (node.is_string()) text = fmt::format("\"{}\"", node.as_string()->get());
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text.size() > 60 ? text.substr(0, 60) + "…" : text;
}

bool is_one_line(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

}  // namespace

TableReader::TableReader(const toml::table& table, std::string origin, std::string where)
    : table_(table), origin_(std::move(origin)), where_(std::move(where)) {}

std::string TableReader::at(const toml::node& node) const {
  return fmt::format("{}:{}", origin_, node.source().begin.line);
}

void TableReader::bad(const toml::node& node, std::string_view key, std::string_view must,
                      std::string_view remedy) const {
  throw errors::bad_value(at(node), key, must, shown(node), remedy);
}

void TableReader::missing(std::string_view key, std::string_view example) const {
  for (const auto& [other, node] : table_) {
    const bool taken = std::find(known_.begin(), known_.end(), other.str()) != known_.end();
    if (!taken && errors::is_near(other.str(), key)) {
      throw errors::unknown_key(fmt::format("{}:{}", origin_, other.source().begin.line),
                                other.str(), {std::string(key)});
    }
  }
  throw errors::missing_key(at(table_), key, where_, example);
}

void TableReader::refuse(std::string_view key, std::string_view must,
                         std::string_view remedy) const {
  const toml::node* node = table_.get(key);
  bad(node == nullptr ? static_cast<const toml::node&>(table_) : *node, key, must, remedy);
}

const toml::node* TableReader::take(std::string_view key) {
  known_.emplace_back(key);
  return table_.get(key);
}

const toml::node& TableReader::require(std::string_view key, std::string_view example) {
  const toml::node* node = take(key);
  if (node == nullptr) missing(key, example);
  return *node;
}

std::string TableReader::checked_text(const toml::node& node, std::string_view key) const {
  const auto text = node.value_exact<std::string>();
  if (!text || !is_one_line(*text)) {
    bad(node, key, "text of one line", fmt::format("write {} = \"…\"", key));
  }
  return *text;
}

std::int64_t TableReader::checked_whole(const toml::node& node, std::string_view key,
                                        std::int64_t least, std::int64_t most) const {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < least) {
    bad(node, key, fmt::format("a whole number above {}", least - 1),
        fmt::format("write {} = {}", key, std::max<std::int64_t>(least, 1)));
  }
  if (*value > most) {
    bad(node, key, fmt::format("at most {}", most), "take a smaller one");
  }
  return *value;
}

std::string TableReader::text(std::string_view key) {
  return checked_text(require(key, fmt::format("{} = \"…\"", key)), key);
}

std::string TableReader::text_or(std::string_view key, std::string fallback) {
  const toml::node* node = take(key);
  return node == nullptr ? std::move(fallback) : checked_text(*node, key);
}

std::vector<std::string> TableReader::lines_or_none(std::string_view key) {
  const toml::node* node = take(key);
  if (node == nullptr) return {};
  const auto text = node->value_exact<std::string>();
  const auto remedy = fmt::format("write {} = \"\"\"…\"\"\"", key);
  if (!text) bad(*node, key, "text", remedy);
  std::vector<std::string> lines;
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && !is_one_line(line)) bad(*node, key, "text without tabs", remedy);
    lines.push_back(line);
  }
  return lines;
}

std::int64_t TableReader::whole(std::string_view key, std::int64_t least, std::int64_t most) {
  const auto example = fmt::format("{} = {}", key, std::max<std::int64_t>(least, 1));
  return checked_whole(require(key, example), key, least, most);
}

std::int64_t TableReader::whole_or(std::string_view key, std::int64_t fallback, std::int64_t least,
                                   std::int64_t most) {
  const toml::node* node = take(key);
  return node == nullptr ? fallback : checked_whole(*node, key, least, most);
}

double TableReader::number_or(std::string_view key, double fallback, double most) {
  const toml::node* node = take(key);
  if (node == nullptr) return fallback;
  const auto value = node->value<double>();
  if (!node->is_number() || !value || !std::isfinite(*value) || *value <= 0 || *value > most) {
    bad(*node, key, fmt::format("a number above 0, at most {}", most),
        fmt::format("the default is {}", fallback));
  }
  return *value;
}

bool TableReader::flag(std::string_view key) {
  const toml::node& node = require(key, fmt::format("{} = true or false", key));
  if (!node.is_boolean()) bad(node, key, "true or false", "write it without quotes");
  return *node.value_exact<bool>();
}

bool TableReader::flag_or(std::string_view key, bool fallback) {
  return table_.contains(key) ? flag(key) : (take(key), fallback);
}

std::vector<std::string> TableReader::texts_or_none(
    std::string_view key, std::string_view must,
    const std::function<bool(std::string_view)>& good) {
  const toml::node* node = take(key);
  if (node == nullptr) return {};
  const auto remedy = fmt::format("write {} = [\"…\"]", key);
  const toml::array* array = node->as_array();
  if (array == nullptr) bad(*node, key, "an array of text", remedy);
  std::vector<std::string> result;
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text || !good(*text)) bad(item, key, must, "mend that entry");
    if (std::find(result.begin(), result.end(), *text) != result.end()) {
      bad(item, key, "without the same entry twice", "take one out");
    }
    result.push_back(*text);
  }
  return result;
}

std::vector<const toml::table*> TableReader::tables(std::string_view key) {
  const toml::node& node = require(key, fmt::format("at least one {}", key));
  const toml::array* array = node.as_array();
  const auto must = fmt::format("at least one {}", key);
  if (array == nullptr || array->empty()) bad(node, key, must, "add one");
  std::vector<const toml::table*> result;
  for (const toml::node& item : *array) {
    if (!item.is_table()) bad(item, key, "a table", "write { name = \"…\", points = 1 }");
    result.push_back(item.as_table());
  }
  return result;
}

const toml::table* TableReader::table_or_null(std::string_view key) {
  const toml::node* node = take(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) bad(*node, key, "a table", fmt::format("write {}.KEY = …", key));
  return node->as_table();
}

void TableReader::finish() const {
  for (const auto& [key, node] : table_) {
    if (std::find(known_.begin(), known_.end(), key.str()) == known_.end()) {
      throw errors::unknown_key(fmt::format("{}:{}", origin_, key.source().begin.line), key.str(),
                                known_);
    }
  }
}

}  // namespace gradlab::manifest
