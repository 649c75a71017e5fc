#include "cli/attack_bank.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "cli/messages.hpp"
#include "manifest/errors.hpp"
#include "manifest/table_reader.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

using manifest::TableReader;

constexpr char kNobody[] = "none";  // the verdict where nothing may be taken for a hand-in

std::vector<int> tasks_of(TableReader& in) {
  const auto is_task = [](std::string_view text) {
    return text.size() == 1 && text[0] >= '1' && text[0] <= '9';
  };
  std::vector<int> tasks;
  for (const auto& text : in.texts_or_none("keeps", "the number of a task", is_task)) {
    tasks.push_back(text[0] - '0');
  }
  return tasks;
}

// "compile_error: cannot open file"
std::optional<Attack::Otherwise> otherwise_in(TableReader& in) {
  const auto text = in.text_or("in_container", "");
  if (text.empty()) return std::nullopt;
  const auto colon = std::min(text.find(": "), text.size());
  const auto verdict = record::verdict_from(text.substr(0, colon));
  if (!verdict || colon == text.size()) {
    in.refuse("in_container", "\"VERDICT: what the student reads\"",
              "as compile_error: no such file");
  }
  return Attack::Otherwise{*verdict, text.substr(colon + 2)};
}

Attack read_attack(const toml::table& table, const std::string& origin,
                   const std::string& promise) {
  TableReader in(table, origin, "a case");
  Attack attack;
  attack.promise = promise;
  attack.name = in.text("name");
  in.rename(fmt::format("case '{}'", attack.name));
  attack.lab = in.text_or("lab", "clipping");
  attack.student = without_percent(in.text_or("student", attack.name));
  const auto verdict = in.text("verdict");
  attack.verdict = record::verdict_from(verdict);
  if (!attack.verdict && verdict != kNobody) in.refuse("verdict", "a verdict", "or none");
  attack.reads = in.text_or("reads", "");
  attack.in_container = otherwise_in(in);
  attack.keeps = tasks_of(in);
  const auto any = [](std::string_view text) { return !text.empty(); };
  attack.entries = in.texts_or_none("entries", "text", any);
  attack.environment = in.texts_or_none("environment", "NAME=VALUE", [](std::string_view text) {
    return text.find('=') != std::string_view::npos;
  });
  if (attack.entries.empty()) {
    attack.entries = {fmt::format("copy {}/{}.cpp tests/attacks/{}/{}.cpp", attack.student,
                                  attack.lab, attack.lab, attack.name)};
  }
  in.finish();
  return attack;
}

// "copy PLACE FILE" in three; the last may hold blanks.
struct Entry {
  std::string kind, place, rest;
};
Entry entry_of(const std::string& text) {
  const auto first = std::min(text.find(' '), text.size());
  const auto second = std::min(text.find(' ', first + 1), text.size());
  const auto from = [&](size_t at) { return at < text.size() ? text.substr(at + 1) : ""; };
  return {text.substr(0, first), without_percent(text.substr(first + 1, second - first - 1)),
          from(second)};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  if (!out.flush()) throw messages::not_written(path.string(), "no room, or no right to");
}

}  // namespace

std::string without_percent(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      bytes.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      bytes.push_back(text[i]);
    }
  }
  return bytes;
}

const Attack* AttackBank::find(const std::string& name) const {
  const auto found = std::find_if(attacks.begin(), attacks.end(),
                                  [&](const Attack& attack) { return attack.name == name; });
  return found == attacks.end() ? nullptr : &*found;
}

AttackBank read_attack_bank(const fs::path& path) {
  const std::string origin = path.parent_path().filename() / path.filename();
  toml::table table;
  try {
    table = toml::parse_file(path.string());
  } catch (const toml::parse_error& error) {
    throw manifest::errors::syntax(fmt::format("{}:{}", origin, error.source().begin.line),
                                   error.description());
  }
  AttackBank bank;
  TableReader in(table, origin, "the bank");
  if (const auto* honest = in.table_or_null("honest")) {
    for (const auto& [lab, file] : *honest) {
      bank.honest[std::string(lab.str())] = file.value_or(std::string());
    }
  }
  for (const auto* promise : in.tables("promise")) {
    TableReader words(*promise, origin, "a promise");
    const auto says = words.text("says");
    for (const auto* attack : words.tables("case")) {
      auto read = read_attack(*attack, origin, says);
      if (bank.find(read.name) != nullptr) {
        TableReader(*attack, origin, "a case").refuse("name", "a new one", "rename one of the two");
      }
      bank.attacks.push_back(std::move(read));
    }
    words.finish();
  }
  in.finish();
  return bank;
}

bool lay_out(const Attack& attack, const fs::path& root, const fs::path& folder) {
  for (const auto& text : attack.entries) {
    const Entry entry = entry_of(text);
    const fs::path place = folder / entry.place;
    fs::create_directories(place.parent_path());
    if (entry.kind == "copy") {
      if (!fs::exists(root / entry.rest)) throw messages::missing_part(entry.rest, "attacks");
      fs::copy_file(root / entry.rest, place);
    } else if (entry.kind == "text") {
      write_bytes(place, without_percent(entry.rest));
    } else if (entry.kind == "link") {
      fs::create_symlink(entry.rest, place);
    } else if (entry.kind == "fifo") {
      mkfifo(place.c_str(), 0600);
    } else if (entry.kind == "device") {
      if (mknod(place.c_str(), S_IFCHR | 0600, makedev(1, 5)) != 0) return false;  // /dev/zero
    } else {
      throw GraderFault(
          fmt::format("tests/attacks/bank.toml: no kind of entry is '{}': it is "
                      "copy, text, link, fifo or device",
                      entry.kind));
    }
  }
  return true;
}

}  // namespace gradlab::cli
