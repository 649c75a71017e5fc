#include "manifest/names.hpp"

#include <algorithm>

namespace gradlab::manifest {
namespace {

constexpr std::size_t kLongest = 100;

// By hand: std::regex costs more to build than a whole lab.toml costs to read, and isalpha() asks
// the locale.
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

bool all_of(std::string_view text, bool (*good)(char)) {
  return !text.empty() && text.size() <= kLongest && std::all_of(text.begin(), text.end(), good);
}

bool is_identifier(std::string_view text) { return all_of(text, is_word) && !is_digit(text[0]); }

}  // namespace

bool is_snake(std::string_view text) {
  return all_of(text, [](char c) { return is_lower(c) || is_digit(c) || c == '_'; }) &&
         is_lower(text[0]);
}

bool is_header(std::string_view text) {
  return all_of(text,
                [](char c) {
                  return is_word(c) || std::string_view("./+-").find(c) != std::string_view::npos;
                }) &&
         is_word(text[0]) && text.back() != '/' && text.find("..") == std::string_view::npos &&
         text.find("//") == std::string_view::npos;
}

bool is_source_name(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  const auto extension = text.substr(dot);
  return all_of(text.substr(0, dot), [](char c) { return is_word(c) || c == '-'; }) &&
         is_word(text[0]) &&
         (extension == ".cpp" || extension == ".hpp" || extension == ".h" || extension == ".cu");
}

bool is_cpp_name(std::string_view text) {
  if (text.starts_with("::")) text.remove_prefix(2);
  for (auto end = text.find("::"); end != std::string_view::npos; end = text.find("::")) {
    if (!is_identifier(text.substr(0, end))) return false;
    text.remove_prefix(end + 2);
  }
  return is_identifier(text);
}

}  // namespace gradlab::manifest
