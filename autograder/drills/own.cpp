#include "drills/own.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "drills/check.hpp"
#include "drills/typed.hpp"
#include "manifest/errors.hpp"
#include "manifest/names.hpp"
#include "manifest/table_reader.hpp"
#include "render/terminal.hpp"

namespace gradlab::drills {
namespace {

using manifest::TableReader;

bool is_any(std::string_view) { return true; }

// Written as text, so that 1/5 and 2^16 can be too.
double number_in(TableReader& table, std::string_view key) {
  const auto value = typed_number(table.text(key));
  if (!value) table.refuse(key, "a number as text", "write \"0.2\", \"1/5\", \"2^16\" or \"1e-3\"");
  return *value;
}

Question numeric(TableReader& table, bool has_near) {
  const double value = number_in(table, "number");
  const double within = table.number_or("within", 0, 100) / 100;
  auto question = ask_number("", value, within, table.text_or("unit", ""));
  if (!has_near) return question;
  for (const auto* near : table.tables("near")) {
    TableReader miss(*near, table.origin(), "a near miss");
    const double wrong = number_in(miss, "number");
    question.miss(wrong, render::printable(miss.text("mistake")));
    if (!is_sharp(question)) {
      miss.refuse("number", "unlike the answer and the other near misses",
                  "take another number, or leave this near miss out");
    }
    miss.finish();
  }
  return question;
}

Question listed(TableReader& table) {
  const auto texts = table.texts_or_none("choices", "text", is_any);
  if (texts.size() < 2 || texts.size() > 9) {
    table.refuse("choices", "2 to 9 of them, the right one first",
                 "write choices = [\"…\", \"…\"]");
  }
  std::vector<Choices::Option> options;
  for (const auto& text : texts) options.push_back({render::printable(text), {}, ""});
  return ask_choice("", options);
}

Question own_words(TableReader& table) {
  Question question;
  question.kind = Kind::kRecall;
  question.answer = OwnWords{render::printable(table.text("answer"))};
  return question;
}

Question answered(TableReader& table, const toml::table& source) {
  if (source.contains("number")) return numeric(table, source.contains("near"));
  if (source.contains("choices")) return listed(table);
  return own_words(table);
}

Template read_drill(const toml::table& source, const std::string& origin, const std::string& prefix,
                    const std::string& topic) {
  TableReader table(source, origin, "[[drill]]");
  const auto name = table.text("name");
  if (!manifest::is_snake(name)) {
    table.refuse("name", "lower-case letters, digits and '_', a letter first",
                 "write name = \"why_unscale_first\"");
  }
  table.rename(fmt::format("[[drill]] {}", name));
  Template drill{fmt::format("{}.{}", prefix, name),
                 render::printable(table.text_or("topic", topic)), Kind::kNumber, nullptr};
  auto question = answered(table, source);
  question.text = render::printable(table.text("question"));
  for (const auto& line : table.lines_or_none("code")) {
    question.code.push_back(render::printable(line));
  }
  question.hint = render::printable(table.text_or("hint", ""));
  question.why = render::printable(table.text_or("why", ""));
  question.read = render::printable(table.text_or("read", topic == "own" ? origin : ""));
  table.finish();
  drill.kind = question.kind;
  drill.draw = [question](Random&) { return question; };
  return drill;
}

toml::table parsed(const std::filesystem::path& file, const std::string& origin) {
  if (std::filesystem::is_directory(file)) {
    throw manifest::errors::no_drills(origin, "it is a folder");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) throw manifest::errors::no_drills(origin, strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw manifest::errors::syntax(fmt::format("{}:{}", origin, error.source().begin.line),
                                   error.description());
  }
}

}  // namespace

std::vector<Template> read_drills(const std::filesystem::path& file, const std::string& origin,
                                  const std::string& prefix, const std::string& topic) {
  const toml::table root = parsed(file, origin);
  TableReader table(root, origin, "the file");
  std::vector<Template> drills;
  std::set<std::string> names;
  for (const auto* source : table.tables("drill")) {
    drills.push_back(read_drill(*source, origin, prefix, topic));
    if (!names.insert(drills.back().name).second) {
      TableReader(*source, origin, "[[drill]]")
          .refuse("name", "unlike the others of the file", "take another name");
    }
  }
  table.finish();
  return drills;
}

}  // namespace gradlab::drills
