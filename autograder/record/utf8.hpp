// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gradlab::record {

struct CodePoint {
  char32_t value = 0xFFFD;
  std::size_t length = 1;  // bytes it takes
  bool valid = false;
};

// REQUIRES: at < text.size(). An invalid byte is a code point of its own, U+FFFD.
CodePoint code_point_at(std::string_view text, std::size_t at);

std::optional<std::size_t> first_invalid_utf8(std::string_view text);  // its offset
std::string valid_utf8(std::string_view text);                         // invalid bytes replaced

}  // namespace gradlab::record
