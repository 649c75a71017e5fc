#include "cli/glossary.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cctype>

#include "manifest/errors.hpp"
#include "manifest/table_reader.hpp"

namespace gradlab::cli {
namespace {

using manifest::TableReader;

constexpr char kFile[] = "autograder/cli/texts/what.toml";

GlossaryEntry read_entry(const toml::table& table) {
  TableReader in(table, kFile, "a word");
  GlossaryEntry entry;
  entry.names = in.texts_or_none("names", "a name", [](std::string_view) { return true; });
  entry.says = in.text("says");
  const auto read = in.text("read");
  if (entry.names.empty()) in.refuse("names", "at least one name", "");
  const auto hash = read.find('#');
  if (hash == std::string::npos)
    in.refuse("read", "FILE#heading", "as handouts/clipping.md#Task 2: clip in place");
  entry.read = fmt::format("{}, {}", read.substr(0, hash), read.substr(hash + 1));
  in.finish();
  return entry;
}

// " a b " holds " b ": whole words alone.
bool holds(const std::string& text, const std::string& name) {
  return (" " + text + " ").find(" " + name + " ") != std::string::npos;
}

}  // namespace

std::string plain_name(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      plain += static_cast<char>(std::tolower(byte));
    } else if (!plain.empty() && plain.back() != ' ') {
      plain += ' ';
    }
  }
  if (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

Glossary::Glossary(const std::filesystem::path& file) {
  toml::table table;
  try {
    table = toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    throw manifest::errors::syntax(kFile, error.description());
  }
  for (const auto* each : TableReader(table, kFile, "the texts").tables("group")) {
    TableReader in(*each, kFile, "a group");
    auto& group = groups_.emplace_back();
    group.title = in.text("title");
    for (const auto* word : in.tables("word")) group.entries.push_back(read_entry(*word));
    in.finish();
  }
}

const GlossaryEntry* Glossary::find(std::string_view text) const {
  const auto asked = plain_name(text);
  const GlossaryEntry* best = nullptr;
  size_t longest = 0;
  for (const auto& group : groups_) {
    for (const auto& entry : group.entries) {
      for (const auto& name : entry.names) {
        const auto plain = plain_name(name);
        if (plain == asked) return &entry;
        if (plain.size() > longest && holds(asked, plain)) {
          longest = plain.size();
          best = &entry;
        }
      }
    }
  }
  return best;
}

std::vector<std::string> Glossary::names() const {
  std::vector<std::string> all;
  for (const auto& group : groups_) {
    for (const auto& entry : group.entries) {
      all.insert(all.end(), entry.names.begin(), entry.names.end());
    }
  }
  return all;
}

}  // namespace gradlab::cli
