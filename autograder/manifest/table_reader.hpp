// One TOML table read key by key. Each taken key is remembered, so that finish() can refuse what
// nobody asked for.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::manifest {

class TableReader {
 public:
  // `origin` is the file as messages name it, `where` what the table is: "the lab", "[[task]] 2".
  TableReader(const toml::table& table, std::string origin, std::string where);

  std::string text(std::string_view key);  // required, one line, not empty
  std::string text_or(std::string_view key, std::string fallback);
  // The lines of a text of many, each without what moves a cursor; none where it is not there.
  std::vector<std::string> lines_or_none(std::string_view key);
  std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most);
  std::int64_t whole_or(std::string_view key, std::int64_t fallback, std::int64_t least,
                        std::int64_t most);
  double number_or(std::string_view key, double fallback, double most);  // above 0
  bool flag(std::string_view key);
  bool flag_or(std::string_view key, bool fallback);
  // Strings, each of which `good` accepts; `must` says what that is.
  std::vector<std::string> texts_or_none(std::string_view key, std::string_view must,
                                         const std::function<bool(std::string_view)>& good);
  std::vector<const toml::table*> tables(std::string_view key);  // required, at least one
  const toml::table* table_or_null(std::string_view key);

  void finish() const;  // throws for a key that was not taken

  // Throws: the value of a key, already taken, is not what the lab needs.
  [[noreturn]] void refuse(std::string_view key, std::string_view must,
                           std::string_view remedy) const;
  [[noreturn]] void missing(std::string_view key, std::string_view example) const;
  void rename(std::string where) { where_ = std::move(where); }
  const std::string& origin() const { return origin_; }

 private:
  const toml::node* take(std::string_view key);
  const toml::node& require(std::string_view key, std::string_view example);
  std::string at(const toml::node& node) const;
  [[noreturn]] void bad(const toml::node& node, std::string_view key, std::string_view must,
                        std::string_view remedy) const;
  std::string checked_text(const toml::node& node, std::string_view key) const;
  std::int64_t checked_whole(const toml::node& node, std::string_view key, std::int64_t least,
                             std::int64_t most) const;

  const toml::table& table_;
  std::string origin_;
  std::string where_;
  std::vector<std::string> known_;
};

}  // namespace gradlab::manifest
